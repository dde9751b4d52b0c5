import { type ReactNode, useState } from 'react';
import { retryStream } from '../../api/event-stream.ts';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { Toolbar } from '../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Select } from '../../components/field.tsx';
import { LiveBar, WaitingButton } from '../../components/live-bar.tsx';
import { useIsScrolled } from '../../lib/is-scrolled.ts';
import { UserFilter } from '../../shell/user-filter.tsx';
import { eventColumns } from './columns.tsx';
import { EventDrawer } from './event-drawer.tsx';
import styles from './events.module.css';
import type { EventFilter, EventScope } from './queries.ts';
import { TYPE_OPTIONS, typesOf } from './type-filter.ts';
import { useEventList } from './use-event-list.ts';

/** What the address of a page of events says. */
interface Search {
  readonly type?: string;
  readonly user?: string;
  readonly app?: string;
  readonly event?: string;
}

interface Props {
  readonly scope: EventScope;
  readonly search: Search;
  readonly onChange: (members: Search) => void;
  /** More filters. */
  readonly filters?: ReactNode;
  readonly applicationName?: (appId: string) => string;
}

/** Events as they happen, above those that have happened, and the details of one of them. */
export function Events({ scope, search, onChange, filters, applicationName }: Props) {
  const filter = { types: typesOf(search.type), userId: search.user, appId: search.app };
  const [isPaused, setPaused] = useState(false);
  return (
    <List
      // The events of another filter are another list.
      key={JSON.stringify(filter)}
      {...{ scope, search, onChange, filters, applicationName, filter, isPaused, setPaused }}
    />
  );
}

interface ListProps extends Omit<Props, 'applicationName'> {
  readonly applicationName: Props['applicationName'] | undefined;
  readonly filter: EventFilter;
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
}

function List(props: ListProps) {
  const { scope, search, onChange, filters, applicationName, filter, isPaused, setPaused } = props;
  const isScrolled = useIsScrolled();
  const isHeld = isPaused || isScrolled || search.event !== undefined;
  const { list, status, waitingCount, fresh, show } = useEventList(scope, filter, isHeld);
  const isFiltered = Boolean(filter.types ?? filter.userId ?? filter.appId);
  return (
    <>
      <Toolbar>
        {filters}
        <Select
          bare
          label="Type"
          value={filter.types ? (search.type ?? '') : ''}
          options={TYPE_OPTIONS}
          onChange={({ target }) => onChange({ type: target.value })}
        />
        <UserFilter
          appId={scope ?? search.app}
          userId={search.user}
          onChange={(user) => onChange({ user })}
        />
        <div className={styles.live}>
          <LiveBar
            state={status.state}
            failure={status.failure}
            onRetry={retryStream}
            isPaused={isPaused}
            onPause={setPaused}
          />
        </div>
      </Toolbar>
      <WaitingButton
        count={waitingCount}
        noun="event"
        onShow={() => {
          window.scrollTo({ top: 0 });
          show();
        }}
      />
      <DataTable
        label="events"
        list={list}
        columns={eventColumns({ open: (event) => onChange({ event }), fresh, applicationName })}
        idOf={({ id }) => id}
        nameOf={({ type }) => type}
        currentId={search.event}
        empty={
          isFiltered ? (
            <EmptyState
              icon="search"
              title="No event matches"
              action={
                <Button onClick={() => onChange({ type: '', user: '', app: '' })}>Clear the filters</Button>
              }
            >
              New events that match appear here as they happen.
            </EmptyState>
          ) : (
            <EmptyState icon="pulse" title="No events yet">
              Logins, new users, redeemed keys, bans and all other changes appear here as they happen. Log in
              from your program to see the first one.
            </EmptyState>
          )
        }
      />
      <EventDrawer
        scope={scope}
        eventId={search.event}
        items={list.items}
        applicationName={applicationName}
        onClose={() => onChange({ event: '' })}
        onFilter={(members) => onChange({ ...members, event: '' })}
      />
    </>
  );
}
