import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../../lib/search.ts';
import { administratorRoute } from '../../../shell/administrator.ts';

export const plansRoute = createRoute({
  getParentRoute: () => administratorRoute,
  path: '/admin/plans',
  staticData: { title: 'Plans' },
  validateSearch: pick('plan', 'create', 'archived'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'PlansPage'),
});
