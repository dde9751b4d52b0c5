import { useChangeSearch } from '../../lib/change-search.ts';
import { Page } from '../../shell/page.tsx';
import { Events } from './events.tsx';
import { eventsRoute } from './route.ts';

/** What happens in an application. */
export function EventsPage() {
  const { appId } = eventsRoute.useParams();
  const search = eventsRoute.useSearch();
  const change = useChangeSearch(eventsRoute);
  return (
    <Page title="Events" description="Every change in this application, as it happens.">
      <Events scope={appId} search={search} onChange={change} />
    </Page>
  );
}
