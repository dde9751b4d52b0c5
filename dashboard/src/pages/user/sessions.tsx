import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { SimpleTable } from '../../components/simple-table.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { formatTime, plural } from '../../lib/format.ts';
import { endSession } from '../sessions/queries.ts';
import { type User, userActions, useUsersChanged } from '../users/queries.ts';
import { userSessionsQuery } from './queries.ts';

interface Props {
  readonly path: { readonly app_id: string; readonly user_id: string };
  readonly user: User;
}

/** The live sessions of a user. */
export function Sessions({ path, user }: Props) {
  const [isEnding, setEnding] = useState(false);
  const [ended, setEnded] = useState<string>();
  const sessions = useQuery(userSessionsQuery(path));
  const changed = useUsersChanged(path.app_id);
  if (sessions.isLoadingError)
    return <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />;
  if (!sessions.data) return <Loading what="the sessions" />;
  const { data } = sessions.data;
  return (
    <Card
      title="Live sessions"
      description="Sessions with the same machine label run on the same machine."
      actions={data.length > 0 && <Button onClick={() => setEnding(true)}>End all</Button>}
    >
      {data.length === 0 ? (
        <EmptyState icon="users" title="No live sessions">
          A session begins when the user logs in to your program.
        </EmptyState>
      ) : (
        <SimpleTable
          label="Live sessions"
          head={['Began', 'Last seen', 'Version', 'Address', 'Machine', 'End']}
          rows={data.map((session) => [
            <Time key="began" value={session.began_at} />,
            <Time key="seen" value={session.last_seen_at} form="relative" />,
            session.version ?? '—',
            session.address ?? '—',
            <code key="machine">{session.machine}</code>,
            <IconButton
              key="end"
              label={`End the session that began ${formatTime(session.began_at)}`}
              icon="close"
              onClick={() => setEnded(session.session_ref)}
            />,
          ])}
        />
      )}
      <ConfirmDialog
        open={isEnding}
        onClose={() => setEnding(false)}
        title={`End all sessions of ${user.username}?`}
        description="The user's programs stop at their next check. The user can log in again."
        action="End all"
        onConfirm={async () => {
          const { ended } = await userActions(path.app_id, path.user_id).endSessions();
          await changed();
          toast(`${plural(ended, 'session')} ended.`);
        }}
      />
      <ConfirmDialog
        open={ended !== undefined}
        onClose={() => setEnded(undefined)}
        title="End this session?"
        description="The program stops at its next check. The user can log in again."
        action="End"
        onConfirm={async () => {
          await endSession(path.app_id, ended!);
          await changed();
          toast('Session ended.');
        }}
      />
    </Card>
  );
}
