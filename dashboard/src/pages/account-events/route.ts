import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { developerRoute } from '../../shell/developer.ts';

export const accountEventsRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/events',
  staticData: { title: 'All events' },
  validateSearch: pick('app', 'type', 'user', 'event'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'AccountEventsPage'),
});
