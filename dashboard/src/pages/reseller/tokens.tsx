import { useState } from 'react';
import { DASHBOARD } from '../../api/base.ts';
import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Name } from '../../components/name.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { Stack } from '../../shell/page.tsx';
import { type Reseller, useResellersChanged } from '../resellers/queries.ts';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { resellerActions, useResellerTokens } from './queries.ts';
import styles from './reseller.module.css';
import { resellerRoute } from './route.ts';

type Token = Schemas['ApiToken'];

const isOver = ({ expires_at }: Token) => expires_at !== null && Date.parse(expires_at) <= Date.now();

const columns = (revoke: (token: Token) => void): readonly Column<Token>[] => [
  { id: 'name', header: 'Name', cell: ({ name }) => <Name>{name}</Name> },
  {
    id: 'scopes',
    header: 'Can',
    width: '9rem',
    from: 'tablet',
    cell: ({ scopes }) => (scopes.includes('write') ? 'buy keys' : 'only read'),
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

/** The tokens that a reseller signs in with, and their programs use. */
export function ResellerTokens({ reseller }: { readonly reseller: Reseller }) {
  const { create } = resellerRoute.useSearch();
  const changeSearch = useChangeSearch(resellerRoute);
  const list = useResellerTokens(reseller.reseller_id);
  const changed = useResellersChanged();
  const [secret, setSecret] = useState<string>();
  const [revoked, setRevoked] = useState<Token>();
  const change = (value: string) => changeSearch({ create: value });
  const button = (
    <Button look="primary" icon="plus" onClick={() => change('yes')}>
      Create token
    </Button>
  );
  const page = `${location.origin}${DASHBOARD}/reseller`;
  return (
    <Stack>
      <div className={styles.top}>
        <p>
          The reseller signs in with a token at <code>{page}</code>, and uses it in programs, such as a shop.
        </p>
        {list.items.length > 0 && button}
      </div>
      <DataTable
        label="tokens"
        list={list}
        columns={columns(setRevoked)}
        idOf={({ token_id }) => token_id}
        nameOf={({ name }) => name}
        empty={
          <EmptyState icon="key" title="No tokens" action={button}>
            Create a token and give it to the reseller over a safe channel. Without one, they cannot buy keys.
          </EmptyState>
        }
      />
      <CreateTokenDialog
        resellerId={reseller.reseller_id}
        open={create !== undefined}
        onClose={() => change('')}
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
    </Stack>
  );
}
