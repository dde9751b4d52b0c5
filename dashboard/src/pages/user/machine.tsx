import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card, Facts } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { SimpleTable } from '../../components/simple-table.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { Columns } from '../../shell/page.tsx';
import { useApplication } from '../../shell/queries.ts';
import type { User } from '../users/queries.ts';
import { machineEventsQuery, userSessionsQuery } from './queries.ts';
import { ResetMachine } from './reset-machine.tsx';

interface Props {
  readonly path: { readonly app_id: string; readonly user_id: string };
  readonly user: User;
}

/** The machine that a user is bound to, and those of the live sessions. */
export function Machine({ path, user }: Props) {
  return (
    <Columns>
      <Binding path={path} user={user} />
      <History path={path} />
    </Columns>
  );
}

function Binding({ path, user }: Props) {
  const [isResetting, setResetting] = useState(false);
  const application = useApplication(path.app_id);
  const sessions = useQuery(userSessionsQuery(path));
  const machines = Map.groupBy(sessions.data?.data ?? [], ({ machine }) => machine);
  return (
    <Card
      title="Binding"
      description={<Explanation appId={path.app_id} isLocked={application.data?.hwid_lock} />}
      actions={
        <Button disabled={!user.hwid_bound} onClick={() => setResetting(true)}>
          Reset
        </Button>
      }
    >
      <Facts
        facts={[
          [
            'State',
            user.hwid_bound ? <Badge tone="good">Bound</Badge> : <Badge key="state">Not bound</Badge>,
          ],
          ['Reset by the user', <Time key="reset" value={user.hwid_reset_at} absent="Never" />],
          ...[...machines].map(
            ([machine, running]) =>
              [
                'Running on',
                <span key={machine}>
                  <code>{machine}</code>, last seen{' '}
                  <Time
                    value={running
                      .map(({ last_seen_at }) => last_seen_at)
                      .toSorted()
                      .at(-1)}
                    form="relative"
                  />
                </span>,
              ] as const,
          ),
        ]}
      />
      <ResetMachine
        appId={path.app_id}
        userId={path.user_id}
        open={isResetting}
        onClose={() => setResetting(false)}
      />
    </Card>
  );
}

function Explanation({
  appId,
  isLocked,
}: {
  readonly appId: string;
  readonly isLocked: boolean | undefined;
}) {
  const settings = (
    <Link to="/apps/$appId/settings" params={{ appId }}>
      settings
    </Link>
  );
  if (isLocked === undefined) return null;
  return isLocked ? (
    <>
      The first login binds the user to its machine, and logins from others are refused. See the {settings}.
    </>
  ) : (
    <>This application does not bind users to machines. You can change that in the {settings}.</>
  );
}

const CHANGES: Readonly<Record<string, string>> = {
  'user.hwid_bound': 'Bound to the machine of a login',
  'user.hwid_reset': 'Reset',
};

function History({ path }: Pick<Props, 'path'>) {
  const events = useQuery(machineEventsQuery(path));
  return (
    <Card title="History" description="Events are kept for 30 days by default.">
      {events.isLoadingError ? (
        <ErrorState error={events.error} onRetry={() => void events.refetch()} compact />
      ) : !events.data ? (
        <Loading what="the history" />
      ) : events.data.data.length === 0 ? (
        <p>No changes yet. A machine that was bound when the user registered is not in this list.</p>
      ) : (
        <SimpleTable
          label="History of the machine"
          head={['Change', 'Time']}
          rows={events.data.data.map(({ id, type, timestamp }) => [
            CHANGES[type] ?? type,
            <Time key={id} value={timestamp} />,
          ])}
        />
      )}
    </Card>
  );
}
