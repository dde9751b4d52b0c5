import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Name } from '../../components/name.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { type ApiToken, deleteToken, useAccessChanged, useTokens } from './queries.ts';
import { accessRoute } from './route.ts';
import { Scopes } from './scopes.tsx';
import { Section } from './section.tsx';

const isOver = ({ expires_at }: ApiToken) => expires_at !== null && Date.parse(expires_at) <= Date.now();

const columns = (revoke: (token: ApiToken) => void): readonly Column<ApiToken>[] => [
  { id: 'name', header: 'Name', cell: ({ name }) => <Name>{name}</Name> },
  {
    id: 'scopes',
    header: 'Scopes',
    width: '30%',
    from: 'tablet',
    cell: ({ scopes }) => <Scopes scopes={scopes} />,
  },
  {
    id: 'used',
    header: 'Last used',
    width: '8rem',
    cell: ({ last_used_at }) => <Time value={last_used_at} form="relative" absent="Never" />,
  },
  {
    id: 'expires',
    header: 'Expires',
    width: '8rem',
    from: 'tablet',
    cell: (token) =>
      isOver(token) ? (
        <Badge tone="warn">expired</Badge>
      ) : (
        <Time value={token.expires_at} form="relative" absent="Never" />
      ),
  },
  {
    id: 'created',
    header: 'Created',
    width: '8rem',
    from: 'desktop',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
  {
    id: 'actions',
    header: 'Revoke',
    width: '4.5rem',
    cell: (token) => <IconButton label={`Revoke ${token.name}`} icon="close" onClick={() => revoke(token)} />,
  },
];

/** The tokens of programs. */
export function Tokens() {
  const { create } = accessRoute.useSearch();
  const change = useChangeSearch(accessRoute);
  const list = useTokens();
  const changed = useAccessChanged();
  const [secret, setSecret] = useState<string>();
  const [revoked, setRevoked] = useState<ApiToken>();
  const button = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Create token
    </Button>
  );
  return (
    <Section
      description={
        'Bearer tokens for programs of yours, such as a bot, a shop or a build. Expired tokens ' +
        'stay here for 30 days.'
      }
      actions={list.items.length > 0 && button}
    >
      <DataTable
        label="tokens"
        list={list}
        columns={columns(setRevoked)}
        idOf={({ token_id }) => token_id}
        nameOf={({ name }) => name}
        empty={
          <EmptyState icon="key" title="No API tokens" action={button}>
            A token lets a program call the API in your name, with only the scopes that you give it.
          </EmptyState>
        }
      />
      <CreateTokenDialog
        open={create !== undefined}
        onClose={() => change({ create: '' })}
        onCreated={setSecret}
      />
      <SecretDialog
        title="Your new API token"
        what="API token"
        value={secret}
        onClose={() => setSecret(undefined)}
      >
        <p>
          Send it in the header <code>Authorization: Bearer …</code> of each request.
        </p>
      </SecretDialog>
      <ConfirmDialog
        open={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={`Revoke ${revoked?.name ?? ''}?`}
        description="Programs that use this token lose access immediately. This cannot be undone."
        action="Revoke"
        onConfirm={async () => {
          await deleteToken(revoked!.token_id);
          await changed();
          toast('Token revoked.');
        }}
      />
    </Section>
  );
}
