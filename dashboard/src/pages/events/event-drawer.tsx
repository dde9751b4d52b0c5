import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/card.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { formatUtc } from '../../lib/format.ts';
import { useLast } from '../../lib/last.ts';
import { UserLink } from '../../shell/user-link.tsx';
import styles from './event-drawer.module.css';
import { type Event, eventQuery, type EventScope } from './queries.ts';

interface Props {
  readonly scope: EventScope;
  readonly eventId: string | undefined;
  readonly items: readonly Event[];
  readonly applicationName?: ((appId: string) => string) | undefined;
  readonly onClose: () => void;
  readonly onFilter: (filter: {
    readonly type?: string;
    readonly user?: string;
    readonly app?: string;
  }) => void;
}

/** Everything about one event. */
export function EventDrawer({ scope, eventId, items, onClose, ...props }: Props) {
  const shown = useLast(items.find(({ id }) => id === eventId));
  const isShown = shown !== undefined && (eventId === undefined || shown.id === eventId);
  const found = useQuery({
    ...eventQuery(scope, eventId ?? ''),
    enabled: eventId !== undefined && !isShown,
  });
  const event = isShown ? shown : found.data;
  return (
    <Dialog kind="drawer" open={eventId !== undefined} onClose={onClose} title="Event">
      {event ? (
        <Details event={event} {...props} />
      ) : found.isLoadingError ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : found.data === null ? (
        <EmptyState icon="pulse" title="Event not found">
          Events are kept for a limited time, which is 30 days by default.
        </EmptyState>
      ) : (
        <Loading what="the event" />
      )}
    </Dialog>
  );
}

type DetailsProps = Pick<Props, 'applicationName' | 'onFilter'> & { readonly event: Event };

function Details({ event, applicationName, onFilter }: DetailsProps) {
  const { id, type, timestamp, app_id: appId, user_id: userId, data } = event;
  const licenseId = data['license_id'];
  return (
    <>
      <Facts
        facts={[
          ['Type', <code key="type">{type}</code>],
          [
            'Time',
            <span key="time" className={styles.lines}>
              <Time value={timestamp} />
              <span className={styles.soft}>{formatUtc(timestamp)}</span>
            </span>,
          ],
          [
            'Application',
            <Link key="app" to="/apps/$appId" params={{ appId }}>
              <bdi>{applicationName?.(appId) ?? appId}</bdi>
            </Link>,
          ],
          [
            'User',
            userId === null ? (
              '—'
            ) : type === 'user.deleted' ? (
              <code key="user">{userId}</code>
            ) : (
              <UserLink key="user" appId={appId} userId={userId} name={data['username']} />
            ),
          ],
          ...(typeof licenseId === 'string'
            ? [
                [
                  'License',
                  <Link
                    key="license"
                    to="/apps/$appId/licenses"
                    params={{ appId }}
                    search={{ license: licenseId }}
                  >
                    {licenseId}
                  </Link>,
                ] as const,
              ]
            : []),
          ['Identifier', <code key="id">{id}</code>],
        ]}
      />
      <CodeBlock text={JSON.stringify(event, null, 2)} what="event" />
      <div className={styles.actions}>
        <Button icon="filter" onClick={() => onFilter({ type })}>
          Only {type}
        </Button>
        {userId !== null && (
          <Button icon="filter" onClick={() => onFilter({ user: userId })}>
            Only this user
          </Button>
        )}
      </div>
    </>
  );
}
