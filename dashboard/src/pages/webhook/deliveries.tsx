import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table/data-table.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { Toolbar } from '../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Select } from '../../components/field.tsx';
import { NameButton } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { EVENT_TYPES } from '../../lib/event-types.ts';
import { oneOf } from '../../lib/search.ts';
import { DeliveryBadge, outcomeOf } from './delivery-state.tsx';
import styles from './webhook.module.css';
import { type Delivery, useDeliveries, type WebhookPath } from './queries.ts';

const STATES = ['pending', 'succeeded', 'failed'] as const;
const CAUSES = { event: 'Event', replay: 'Replay', test: 'Test' } as const;

interface Search {
  readonly state?: string;
  readonly type?: string;
  readonly delivery?: string;
}

interface Props {
  readonly path: WebhookPath;
  readonly search: Search;
  readonly onChange: (members: Search) => void;
}

/** What was sent to an endpoint, newest first. */
export function Deliveries({ path, search, onChange }: Props) {
  const state = oneOf(STATES, search.state);
  const list = useDeliveries(path, { state, type: search.type });
  const isFiltered = state !== undefined || search.type !== undefined;
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries" className={styles.heading}>
        Deliveries
      </h2>
      <Toolbar>
        <Select
          bare
          label="State"
          value={state ?? ''}
          options={[
            ['', 'Any state'],
            ['pending', 'Pending'],
            ['succeeded', 'Succeeded'],
            ['failed', 'Failed'],
          ]}
          onChange={({ target }) => onChange({ state: target.value })}
        />
        <Select
          bare
          label="Event"
          value={search.type ?? ''}
          options={[
            ['', 'Any event'],
            ...[...EVENT_TYPES, 'webhook.test'].map((type) => [type, type] as const),
          ]}
          onChange={({ target }) => onChange({ type: target.value })}
        />
        <Button onClick={list.reload}>Refresh</Button>
      </Toolbar>
      <DataTable
        label="deliveries"
        list={list}
        columns={columns((delivery) => onChange({ delivery }))}
        idOf={({ delivery_id }) => delivery_id}
        nameOf={({ event }) => event.type}
        currentId={search.delivery}
        empty={
          isFiltered ? (
            <EmptyState
              icon="search"
              title="No delivery matches"
              action={<Button onClick={() => onChange({ state: '', type: '' })}>Clear the filters</Button>}
            >
              Deliveries are kept for 30 days.
            </EmptyState>
          ) : (
            <EmptyState icon="send" title="No deliveries yet">
              Send a test event, or wait for the next event of your application.
            </EmptyState>
          )
        }
      />
    </section>
  );
}

const columns = (open: (deliveryId: string) => void): readonly Column<Delivery>[] => [
  {
    id: 'event',
    header: 'Event',
    cell: ({ delivery_id, event }) => <NameButton onClick={() => open(delivery_id)}>{event.type}</NameButton>,
  },
  { id: 'state', header: 'State', width: '7rem', cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  {
    id: 'outcome',
    header: 'Response',
    width: '24%',
    from: 'tablet',
    cell: (delivery) => <span title={delivery.error ?? undefined}>{outcomeOf(delivery)}</span>,
  },
  {
    id: 'attempts',
    header: 'Attempts',
    width: '6rem',
    from: 'desktop',
    isNumber: true,
    cell: (of) => of.attempts,
  },
  {
    id: 'duration',
    header: 'Duration',
    width: '6.5rem',
    from: 'desktop',
    isNumber: true,
    cell: ({ duration_ms }) => (duration_ms === null ? '—' : `${duration_ms} ms`),
  },
  { id: 'cause', header: 'Cause', width: '6rem', from: 'desktop', cell: ({ cause }) => CAUSES[cause] },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];
