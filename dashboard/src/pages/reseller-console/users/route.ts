import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { resellerConsoleRoute } from '../../../shell/reseller.ts';

export const resellerUsersRoute = createRoute({
  getParentRoute: () => resellerConsoleRoute,
  path: '/reseller/users',
  staticData: { title: 'Users' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResellerUsersPage'),
});
