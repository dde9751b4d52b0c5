import { Link } from '@tanstack/react-router';
import type { Column } from '../../components/data-table/data-table.tsx';
import { nameClass } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { classes } from '../../lib/classes.ts';
import { UserLink } from '../../shell/user-link.tsx';
import styles from './columns.module.css';
import type { Event } from './queries.ts';
import { toneOf } from './tone.ts';

interface Options {
  readonly open: (eventId: string) => void;
  /** Those that were added last: they are marked for a moment. */
  readonly fresh: ReadonlySet<string>;
  /** What an application is called, for the list of the account. */
  readonly applicationName?: ((appId: string) => string) | undefined;
}

/** The columns of a list of events. */
export function eventColumns({ open, fresh, applicationName }: Options): readonly Column<Event>[] {
  return [
    {
      id: 'type',
      header: 'Event',
      cell: ({ id, type }) => (
        <button type="button" className={styles.type} onClick={() => open(id)}>
          <span
            className={classes(styles.dot, styles[toneOf(type)], fresh.has(id) && styles.fresh)}
            aria-hidden="true"
          />
          <code>{type}</code>
        </button>
      ),
    },
    ...(applicationName
      ? [
          {
            id: 'application',
            header: 'Application',
            width: '11rem',
            from: 'tablet',
            cell: ({ app_id }: Event) => (
              <Link to="/apps/$appId/events" params={{ appId: app_id }} className={nameClass}>
                <bdi>{applicationName(app_id)}</bdi>
              </Link>
            ),
          } as const,
        ]
      : []),
    {
      id: 'user',
      header: 'User',
      width: '13rem',
      from: 'tablet',
      cell: ({ app_id, user_id, data, type }) =>
        user_id === null ? (
          '—'
        ) : type === 'user.deleted' ? (
          <code>{user_id}</code>
        ) : (
          <UserLink appId={app_id} userId={user_id} name={data['username']} />
        ),
    },
    {
      id: 'data',
      header: 'Details',
      width: applicationName ? '30%' : '44%',
      from: 'desktop',
      cell: ({ data }) => <Details data={data} />,
    },
    {
      id: 'time',
      header: 'Time',
      width: TIME_WIDTHS.recent,
      cell: ({ timestamp }) => <Time value={timestamp} form="recent" />,
    },
  ];
}

/** The details in one line, to be read at a glance. */
function Details({ data }: { readonly data: Event['data'] }) {
  const known = Object.entries(data).filter(([, value]) => value !== null);
  if (known.length === 0) return '—';
  return (
    <span title={JSON.stringify(data, null, 2)}>
      {known.map(([name, value]) => (
        <span key={name} className={styles.detail}>
          <span className={styles.name}>{name}</span> <Value value={value} />
        </span>
      ))}
    </span>
  );
}

/** A time as the API writes it. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

function Value({ value }: { readonly value: unknown }) {
  if (typeof value !== 'string') return <bdi>{JSON.stringify(value)}</bdi>;
  return TIME.test(value) ? <Time value={value} /> : <bdi>{value}</bdi>;
}
