import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const eventsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/events',
  staticData: { title: 'Events' },
  validateSearch: pick('type', 'user', 'event'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'EventsPage'),
});
