import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { NameButton } from '../../components/name.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { ClientDrawer } from './client-drawer.tsx';
import { CreateClientDialog } from './create-client-dialog.tsx';
import { GRANT_TYPES } from './grant-types.ts';
import { type OAuthClient, useClients } from './queries.ts';
import { accessRoute } from './route.ts';
import { Scopes } from './scopes.tsx';
import { Section } from '../../shell/section.tsx';

const columns = (open: (clientId: string) => void): readonly Column<OAuthClient>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ client_id, name }) => <NameButton onClick={() => open(client_id)}>{name}</NameButton>,
  },
  {
    id: 'grants',
    header: 'Gets tokens by',
    width: '14rem',
    from: 'tablet',
    cell: ({ grant_types }) =>
      GRANT_TYPES.filter(({ value }) => value !== 'refresh_token' && grant_types.includes(value))
        .map(({ short }) => short)
        .join(', '),
  },
  {
    id: 'scopes',
    header: 'Scopes',
    width: '26%',
    from: 'desktop',
    cell: ({ scopes }) => <Scopes scopes={scopes} />,
  },
  {
    id: 'kind',
    header: 'Secret',
    width: '5.5rem',
    cell: ({ token_endpoint_auth_method }) => (token_endpoint_auth_method === 'none' ? 'No' : 'Yes'),
  },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];

/** The developer's own programs at the authorization server. */
export function Clients() {
  const { create, client } = accessRoute.useSearch();
  const change = useChangeSearch(accessRoute);
  const list = useClients();
  const [secret, setSecret] = useState<string>();
  const button = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Register client
    </Button>
  );
  return (
    <Section
      description={
        'Programs that get access tokens from the authorization server: for themselves, or to ' +
        'act for developers who allow it.'
      }
      actions={list.items.length > 0 && button}
    >
      <DataTable
        label="clients"
        list={list}
        columns={columns((id) => change({ client: id }))}
        idOf={({ client_id }) => client_id}
        nameOf={({ name }) => name}
        currentId={client}
        empty={
          <EmptyState icon="lock" title="No OAuth clients" action={button}>
            Register a program that should sign developers in, or that gets short-lived tokens instead of an
            API token.
          </EmptyState>
        }
      />
      <CreateClientDialog
        open={create !== undefined}
        onClose={() => change({ create: '' })}
        onCreated={({ client_secret }) => {
          setSecret(client_secret);
          if (client_secret === undefined) toast('Client registered.');
        }}
      />
      <ClientDrawer clientId={client} onClose={() => change({ client: '' })} />
      <SecretDialog
        title="The client secret"
        what="client secret"
        value={secret}
        onClose={() => setSecret(undefined)}
      />
    </Section>
  );
}
