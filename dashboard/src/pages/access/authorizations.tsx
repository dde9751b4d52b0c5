import { useState } from 'react';
import { IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Name } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { type Authorization, revokeAuthorization, useAccessChanged, useAuthorizations } from './queries.ts';
import { Scopes } from './scopes.tsx';
import { Section } from '../../shell/section.tsx';

const columns = (revoke: (authorization: Authorization) => void): readonly Column<Authorization>[] => [
  { id: 'client', header: 'Program', cell: ({ client_name }) => <Name>{client_name}</Name> },
  {
    id: 'scopes',
    header: 'Scopes',
    width: '34%',
    from: 'tablet',
    cell: ({ scopes }) => <Scopes scopes={scopes} />,
  },
  {
    id: 'created',
    header: 'Allowed',
    width: TIME_WIDTHS.relative,
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
  {
    id: 'expires',
    header: 'Ends if unused',
    width: TIME_WIDTHS.relative,
    from: 'desktop',
    cell: ({ expires_at }) => <Time value={expires_at} form="relative" />,
  },
  {
    id: 'actions',
    header: 'Revoke',
    width: '4.5rem',
    cell: (authorization) => (
      <IconButton
        label={`Revoke ${authorization.client_name}`}
        icon="close"
        onClick={() => revoke(authorization)}
      />
    ),
  },
];

/** The programs that the developer has allowed to act for them. */
export function Authorizations() {
  const list = useAuthorizations();
  const changed = useAccessChanged();
  const [revoked, setRevoked] = useState<Authorization>();
  return (
    <Section description="Programs of anyone that you allowed to act for you, on a consent page of this service.">
      <DataTable
        label="authorizations"
        list={list}
        columns={columns(setRevoked)}
        idOf={({ authorization_id }) => authorization_id}
        nameOf={({ client_name }) => client_name}
        empty={
          <EmptyState icon="lock" title="No authorizations">
            When you allow a program to act for you, such as an editor that connects to MCP, it appears here.
          </EmptyState>
        }
      />
      <ConfirmDialog
        open={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={`Revoke the access of ${revoked?.client_name ?? ''}?`}
        description="The program loses access immediately. It can ask you again."
        action="Revoke"
        onConfirm={async () => {
          await revokeAuthorization(revoked!.authorization_id);
          await changed();
          toast('Authorization revoked.');
        }}
      />
    </Section>
  );
}
