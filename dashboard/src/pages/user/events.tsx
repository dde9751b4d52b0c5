import { useNavigate } from '@tanstack/react-router';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { eventColumns } from '../events/columns.tsx';
import { EventDrawer } from '../events/event-drawer.tsx';
import { useUserEvents } from './queries.ts';

interface Props {
  readonly path: { readonly app_id: string; readonly user_id: string };
  /** The event whose details are open. */
  readonly eventId: string | undefined;
  readonly onOpen: (eventId: string | undefined) => void;
}

const NONE: ReadonlySet<string> = new Set();

/** Everything that happened to a user, newest first. */
export function Events({ path, eventId, onOpen }: Props) {
  const list = useUserEvents(path);
  const navigate = useNavigate();
  const appId = path.app_id;
  return (
    <>
      <DataTable
        label="events"
        list={list}
        idOf={({ id }) => id}
        nameOf={({ type }) => type}
        currentId={eventId}
        columns={eventColumns({ open: onOpen, fresh: NONE }).filter(({ id }) => id !== 'user')}
        empty={
          <EmptyState icon="pulse" title="No events">
            Logins, bans, redeemed keys and other changes of this user appear here.
          </EmptyState>
        }
      />
      <EventDrawer
        scope={appId}
        eventId={eventId}
        items={list.items}
        onClose={() => onOpen(undefined)}
        onFilter={({ type, user }) =>
          void navigate({
            to: '/apps/$appId/events',
            params: { appId },
            search: { ...(type && { type }), ...(user && { user }) },
          })
        }
      />
    </>
  );
}
