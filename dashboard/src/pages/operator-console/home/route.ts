import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../../lib/search.ts';
import { administratorRoute } from '../../../shell/administrator.ts';

export const operatorHomeRoute = createRoute({
  getParentRoute: () => administratorRoute,
  path: '/admin',
  staticData: { title: 'Overview' },
  validateSearch: pick('period', 'currency'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'OperatorHomePage'),
});
