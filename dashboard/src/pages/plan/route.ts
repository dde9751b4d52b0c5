import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { developerRoute } from '../../shell/developer.ts';

export const planRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/plan',
  staticData: { title: 'Plan' },
  validateSearch: pick('tab', 'period', 'checkout'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'PlanPage'),
});
