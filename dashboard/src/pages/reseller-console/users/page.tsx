import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { type Column, DataTable } from '../../../components/data-table/data-table.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { Time, TIME_WIDTHS } from '../../../components/time.tsx';
import { toast } from '../../../components/toast.tsx';
import { Page } from '../../../shell/page.tsx';
import { applicationName, type OwnReseller, useOwnReseller } from '../queries.ts';
import { resetMachine, type ResellerUser, useResellerUsers } from './queries.ts';

const STATES = { active: 'good', expired: 'warn', none: 'neutral' } as const;
const STATE_NAMES = { active: 'Active', expired: 'Expired', none: 'None' } as const;

/** The users who redeemed keys of the reseller. */
export function ResellerUsersPage() {
  const list = useResellerUsers();
  const reseller = useOwnReseller().data;
  const [chosen, setChosen] = useState<ResellerUser>();
  return (
    <Page
      title="Users"
      description="Users who redeemed your keys. Reset the machine of a user who has a new computer."
    >
      <DataTable
        label="users"
        list={list}
        columns={columns(reseller, setChosen)}
        idOf={({ user_id }) => user_id}
        nameOf={({ username }) => username}
        empty={
          <EmptyState icon="users" title="No users yet">
            A user is listed here after redeeming one of your keys.
          </EmptyState>
        }
      />
      <ConfirmDialog
        open={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        title="Reset the machine?"
        description={
          <>
            <bdi>{chosen?.username}</bdi> is logged out, and the next login binds the machine that it comes
            from.
          </>
        }
        action="Reset machine"
        isDangerous={false}
        onConfirm={async () => {
          await resetMachine(chosen!.user_id);
          toast(`The machine of ${chosen!.username} is reset.`);
        }}
      />
    </Page>
  );
}

const columns = (
  reseller: OwnReseller | undefined,
  onReset: (user: ResellerUser) => void,
): readonly Column<ResellerUser>[] => [
  { id: 'name', header: 'User', cell: ({ username }) => <bdi title={username}>{username}</bdi> },
  {
    id: 'app',
    header: 'Application',
    from: 'tablet',
    cell: ({ app_id }) => <bdi>{applicationName(reseller, app_id)}</bdi>,
  },
  {
    id: 'tier',
    header: 'Tier',
    width: '9rem',
    from: 'desktop',
    cell: ({ subscription_tier: tier }) => (tier ? <bdi title={tier}>{tier}</bdi> : '—'),
  },
  {
    id: 'state',
    header: 'State',
    width: '6.5rem',
    cell: ({ subscription_status: state }) => <Badge tone={STATES[state]}>{STATE_NAMES[state]}</Badge>,
  },
  {
    id: 'until',
    header: 'Expires',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ subscription_expires_at: until }) => <Time value={until} form="relative" />,
  },
  {
    id: 'reset',
    header: 'Machine',
    width: '6rem',
    cell: (user) => (
      <Button look="quiet" onClick={() => onReset(user)}>
        Reset<span className="visually-hidden"> the machine of {user.username}</span>
      </Button>
    ),
  },
];
