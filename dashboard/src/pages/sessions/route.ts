import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const sessionsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/sessions',
  staticData: { title: 'Live sessions' },
  validateSearch: pick('user'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SessionsPage'),
});
