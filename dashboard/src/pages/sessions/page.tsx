import { useState } from 'react';
import { PAGE_SIZE } from '../../api/pages.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { BulkActions } from '../../components/data-table/bulk/bulk-actions.tsx';
import { changeEach } from '../../components/data-table/bulk/bulk.ts';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { useSelection } from '../../components/data-table/selection.ts';
import { Toolbar } from '../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { toast } from '../../components/toast.tsx';
import { plural } from '../../lib/format.ts';
import { useLast } from '../../lib/last.ts';
import { useRefreshByEvents } from '../../shell/live-refresh.ts';
import { Page } from '../../shell/page.tsx';
import { UserFilter } from '../../shell/user-filter.tsx';
import { userActions } from '../users/queries.ts';
import { type Ending, sessionColumns } from './columns.tsx';
import { endSession, type LiveSession, useSessions, useSessionsChanged } from './queries.ts';
import { sessionsRoute } from './route.ts';

const REFRESH_MS = 3_000;

const idOf = ({ session_ref }: LiveSession) => session_ref;
const nameOf = ({ username, machine }: LiveSession) => `${username} on ${machine}`;

/** Who uses the application right now. */
export function SessionsPage() {
  const { appId } = sessionsRoute.useParams();
  const { user } = sessionsRoute.useSearch();
  const navigate = sessionsRoute.useNavigate();
  const list = useSessions(appId, user);
  const changed = useSessionsChanged(appId);
  const selection = useSelection(user ?? '');
  const [ending, setEnding] = useState<Ending>();
  const filter = (userId: string) =>
    void navigate({ search: userId === '' ? {} : { user: userId }, replace: true });
  useRefreshByEvents({
    isRelevant: ({ app_id, type }) => app_id === appId && type.startsWith('session.'),
    // A reader who has scrolled far does not want the list to change, and many pages take long to read.
    refresh: () => list.items.length <= PAGE_SIZE && void changed(),
    everyMs: REFRESH_MS,
  });

  return (
    <Page title="Live sessions" description="Who is logged in to your program right now, newest first.">
      <Toolbar>
        <UserFilter appId={appId} userId={user} onChange={filter} />
      </Toolbar>
      <DataTable
        label="sessions"
        list={list}
        columns={sessionColumns({ appId, onEnd: setEnding, onFilter: filter })}
        idOf={idOf}
        nameOf={nameOf}
        selection={selection}
        empty={
          user === undefined ? (
            <EmptyState icon="screen" title="No live sessions">
              A session begins when a user logs in to your program, and appears here at once.
            </EmptyState>
          ) : (
            <EmptyState
              icon="screen"
              title="This user has no live sessions"
              action={<Button onClick={() => filter('')}>Show all users</Button>}
            >
              A session appears here when the user logs in to your program.
            </EmptyState>
          )
        }
      />
      <BulkActions
        noun="session"
        list={list}
        selection={selection}
        idOf={idOf}
        nameOf={nameOf}
        actions={[
          {
            label: 'End',
            description: 'The programs stop at their next check. The users can log in again.',
            run: (target, { signal }) =>
              changeEach(target === 'listed' ? [] : target.ids, (ref) => endSession(appId, ref), signal),
          },
        ]}
        onChanged={() => void changed()}
      />
      <EndDialog appId={appId} ending={ending} onClose={() => setEnding(undefined)} onEnded={changed} />
    </Page>
  );
}

interface EndProps {
  readonly appId: string;
  readonly ending: Ending | undefined;
  readonly onClose: () => void;
  readonly onEnded: () => Promise<void>;
}

function EndDialog({ appId, ending, onClose, onEnded }: EndProps) {
  const shown = useLast(ending);
  const username = shown?.session.username ?? '';
  return (
    <ConfirmDialog
      open={ending !== undefined}
      onClose={onClose}
      title={shown?.isAll ? `End all sessions of ${username}?` : `End this session of ${username}?`}
      description={
        shown?.isAll
          ? "The user's programs stop at their next check. The user can log in again."
          : 'The program stops at its next check. The user can log in again.'
      }
      action={shown?.isAll ? 'End all' : 'End'}
      onConfirm={async () => {
        const { session, isAll } = ending!;
        if (isAll) {
          const { ended } = await userActions(appId, session.user_id).endSessions();
          toast(`${plural(ended, 'session')} ended.`);
        } else {
          await endSession(appId, session.session_ref);
          toast('Session ended.');
        }
        await onEnded();
      }}
    />
  );
}
