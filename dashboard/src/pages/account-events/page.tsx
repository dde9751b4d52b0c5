import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { Select } from '../../components/field.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { Page } from '../../shell/page.tsx';
import { applicationsQuery } from '../../shell/queries.ts';
import { Events } from '../events/events.tsx';
import { accountEventsRoute } from './route.ts';

/** What happens in all applications. */
export function AccountEventsPage() {
  const search = accountEventsRoute.useSearch();
  const applications = useQuery(applicationsQuery).data?.data ?? [];
  const change = useChangeSearch(accountEventsRoute);
  const applicationName = useCallback(
    (appId: string) => applications.find(({ app_id }) => app_id === appId)?.name ?? appId,
    [applications],
  );
  const isListed = applications.some(({ app_id }) => app_id === search.app);
  return (
    <Page title="All events" description="Every change in all of your applications, as it happens.">
      <Events
        scope={undefined}
        search={search}
        onChange={change}
        applicationName={applicationName}
        filters={
          <Select
            bare
            label="Application"
            value={search.app ?? ''}
            options={[
              ['', 'All applications'],
              ...applications.map(({ app_id, name }) => [app_id, name] as const),
              ...(search.app && !isListed ? [[search.app, search.app] as const] : []),
            ]}
            onChange={({ target }) => change({ app: target.value })}
          />
        }
      />
    </Page>
  );
}
