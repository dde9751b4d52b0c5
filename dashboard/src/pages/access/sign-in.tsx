import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { plural } from '../../lib/format.ts';
import { browserOf } from './browser-of.ts';
import { Password } from './password.tsx';
import {
  type DeveloperSession,
  endOtherSessions,
  endSession,
  useAccessChanged,
  useSessions,
} from './queries.ts';
import { Section } from '../../shell/section.tsx';

const columns = (end: (session: DeveloperSession) => void): readonly Column<DeveloperSession>[] => [
  {
    id: 'program',
    header: 'Session',
    cell: ({ kind, user_agent }) => (
      <span title={user_agent ?? undefined}>{browserOf(kind, user_agent)}</span>
    ),
  },
  { id: 'address', header: 'Address', width: '10rem', from: 'tablet', cell: ({ address }) => address },
  {
    id: 'used',
    header: 'Last seen',
    width: TIME_WIDTHS.relative,
    cell: ({ last_used_at, created_at }) => <Time value={last_used_at ?? created_at} form="relative" />,
  },
  {
    id: 'created',
    header: 'Signed in',
    width: TIME_WIDTHS.absolute,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} />,
  },
  {
    id: 'expires',
    header: 'Ends',
    width: TIME_WIDTHS.relative,
    from: 'desktop',
    cell: ({ expiry }) => <Time value={expiry} form="relative" />,
  },
  {
    id: 'actions',
    header: 'End',
    width: '5.5rem',
    cell: (session) =>
      session.is_current ? (
        <Badge tone="good">this one</Badge>
      ) : (
        <IconButton
          label={`End the session of ${browserOf(session.kind, session.user_agent)}`}
          icon="close"
          onClick={() => end(session)}
        />
      ),
  },
];

/** Where the developer is signed in, and the password. */
export function SignIn() {
  const list = useSessions();
  const changed = useAccessChanged();
  const [ended, setEnded] = useState<DeveloperSession>();
  const [isEnding, setEnding] = useState(false);
  const hasOthers = list.items.some(({ is_current }) => !is_current);
  return (
    <Section
      description="Where you are signed in: browsers, and programs that logged in with your password."
      actions={hasOthers && <Button onClick={() => setEnding(true)}>End all others</Button>}
    >
      <DataTable
        label="sessions"
        list={list}
        columns={columns(setEnded)}
        idOf={({ developer_session_id }) => developer_session_id}
        nameOf={({ kind, user_agent }) => browserOf(kind, user_agent)}
        empty={
          <EmptyState icon="person" title="No sessions">
            Your sessions appear here.
          </EmptyState>
        }
      />
      <Password />
      <ConfirmDialog
        open={ended !== undefined}
        onClose={() => setEnded(undefined)}
        title="End this session?"
        description={
          `${ended ? browserOf(ended.kind, ended.user_agent) : ''} at ${ended?.address ?? ''} ` +
          'is signed out immediately.'
        }
        action="End"
        onConfirm={async () => {
          await endSession(ended!.developer_session_id);
          await changed();
          toast('Session ended.');
        }}
      />
      <ConfirmDialog
        open={isEnding}
        onClose={() => setEnding(false)}
        title="End all other sessions?"
        description={
          'Every other browser and program is signed out immediately. API tokens, ' +
          'authorizations and agents stay valid.'
        }
        action="End all others"
        onConfirm={async () => {
          const result = await endOtherSessions();
          await changed();
          toast(`${plural(result.ended, 'session')} ended.`);
        }}
      />
    </Section>
  );
}
