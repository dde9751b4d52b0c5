import { useQuery } from '@tanstack/react-query';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { oneOf } from '../../lib/search.ts';
import { Page, Stack } from '../../shell/page.tsx';
import { useRefreshByEvents } from '../../shell/live-refresh.ts';
import { type User, useUsersChanged } from '../users/queries.ts';
import { UserState } from '../users/user-state.tsx';
import { Events } from './events.tsx';
import { Machine } from './machine.tsx';
import { Profile } from './profile.tsx';
import { userQuery } from '../../shell/user-query.ts';
import { userRoute } from './route.ts';
import { Sessions } from './sessions.tsx';
import { UserActions } from './user-actions.tsx';
import { Variables } from './variables.tsx';

const TABS = ['profile', 'sessions', 'machine', 'variables', 'events'] as const;

const REFRESH_MS = 2_000;

/** One user. */
export function UserPage() {
  const { appId, userId } = userRoute.useParams();
  const user = useQuery(userQuery({ app_id: appId, user_id: userId }));
  if (user.isLoadingError) return <ErrorState error={user.error} onRetry={() => void user.refetch()} />;
  if (!user.data) return <Loading what="the user" />;
  return <Details key={userId} appId={appId} user={user.data} />;
}

function Details({ appId, user }: { readonly appId: string; readonly user: User }) {
  const { tab, event } = userRoute.useSearch();
  const navigate = userRoute.useNavigate();
  const path = { app_id: appId, user_id: user.user_id };
  const changed = useUsersChanged(appId);
  useRefreshByEvents({
    isRelevant: ({ app_id, user_id }) => app_id === appId && user_id === user.user_id,
    refresh: () => void changed(),
    everyMs: REFRESH_MS,
  });
  const openEvent = (opened: string | undefined) =>
    void navigate({
      search: { tab: 'events', ...(opened && { event: opened }) },
      replace: true,
      resetScroll: false,
    });
  return (
    <Page
      title={
        <>
          <bdi>{user.username}</bdi> <UserState user={user} />
        </>
      }
      description={<code>{user.user_id}</code>}
      actions={
        <UserActions appId={appId} user={user} onDeleted={() => void navigate({ to: '..', search: {} })} />
      }
    >
      <Stack>
        <Tabs
          label="User"
          current={oneOf(TABS, tab) ?? 'profile'}
          onChange={(next) => void navigate({ search: { tab: next }, replace: true, resetScroll: false })}
          tabs={[
            { id: 'profile', label: 'Profile', content: <Profile appId={appId} user={user} /> },
            {
              id: 'sessions',
              label: `Sessions (${user.live_sessions})`,
              content: <Sessions path={path} user={user} />,
            },
            { id: 'machine', label: 'Machine', content: <Machine path={path} user={user} /> },
            { id: 'variables', label: 'Variables', content: <Variables path={path} /> },
            {
              id: 'events',
              label: 'Timeline',
              content: <Events path={path} eventId={event} onOpen={openEvent} />,
            },
          ]}
        />
      </Stack>
    </Page>
  );
}
