import { useState } from 'react';
import { DASHBOARD } from '../../api/base.ts';
import type { Schemas } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { tokenColumns } from '../../components/tokens/token-columns.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { Section } from '../../shell/section.tsx';
import { type Reseller, useResellersChanged } from '../resellers/queries.ts';
import { CreateResellerTokenDialog } from './create-token-dialog.tsx';
import { resellerActions, useResellerTokens } from './queries.ts';
import styles from './reseller.module.css';
import { resellerRoute } from './route.ts';

type Token = Schemas['ApiToken'];

const SCOPES: Column<Token> = {
  id: 'scopes',
  header: 'Can',
  width: '9rem',
  from: 'tablet',
  cell: ({ scopes }) => (scopes.includes('write') ? 'buy keys' : 'only read'),
};

/** The tokens that a reseller signs in with, and their programs use. */
export function ResellerTokens({ reseller }: { readonly reseller: Reseller }) {
  const { create } = resellerRoute.useSearch();
  const change = useChangeSearch(resellerRoute);
  const list = useResellerTokens(reseller.reseller_id);
  const changed = useResellersChanged();
  const [secret, setSecret] = useState<string>();
  const [revoked, setRevoked] = useState<Token>();
  const button = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Create token
    </Button>
  );
  const page = `${location.origin}${DASHBOARD}/reseller`;
  return (
    <Section
      description={
        <>
          The reseller signs in with a token at <code>{page}</code>, and uses it in programs, such as a shop.
        </>
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
          <EmptyState icon="key" title="No tokens" action={button}>
            Create a token and give it to the reseller over a safe channel. Without one, they cannot buy keys.
          </EmptyState>
        }
      />
      <CreateResellerTokenDialog
        resellerId={reseller.reseller_id}
        open={create !== undefined}
        onClose={() => change({ create: '' })}
        onCreated={setSecret}
      />
      <SecretDialog
        title="The reseller's new token"
        what="token"
        value={secret}
        onClose={() => setSecret(undefined)}
      >
        <p>Give it to the reseller over a safe channel. They sign in with it here:</p>
        <div className={styles.address}>
          <code>{page}</code>
          <CopyButton text={page} what="address" />
        </div>
      </SecretDialog>
      <ConfirmDialog
        open={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={`Revoke ${revoked?.name ?? ''}?`}
        description={
          'The reseller is signed out, and programs that use this token lose access ' +
          'immediately. This cannot be undone.'
        }
        action="Revoke"
        onConfirm={async () => {
          await resellerActions(reseller.reseller_id).deleteToken(revoked!.token_id);
          await changed();
          toast('Token revoked.');
        }}
      />
    </Section>
  );
}
