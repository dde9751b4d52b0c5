import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { tokenColumns } from '../../components/tokens/token-columns.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { CreateApiTokenDialog } from './create-token-dialog.tsx';
import { type ApiToken, deleteToken, useAccessChanged, useTokens } from './queries.ts';
import { accessRoute } from './route.ts';
import { Scopes } from './scopes.tsx';
import { Section } from '../../shell/section.tsx';

const SCOPES: Column<ApiToken> = {
  id: 'scopes',
  header: 'Scopes',
  width: '30%',
  from: 'tablet',
  cell: ({ scopes }) => <Scopes scopes={scopes} />,
};

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
        columns={tokenColumns(SCOPES, setRevoked)}
        idOf={({ token_id }) => token_id}
        nameOf={({ name }) => name}
        empty={
          <EmptyState icon="key" title="No API tokens" action={button}>
            A token lets a program call the API in your name, with only the scopes that you give it.
          </EmptyState>
        }
      />
      <CreateApiTokenDialog
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
