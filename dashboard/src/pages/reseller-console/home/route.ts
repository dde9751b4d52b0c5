import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../../lib/search.ts';
import { resellerConsoleRoute } from '../../../shell/reseller.ts';

export const resellerHomeRoute = createRoute({
  getParentRoute: () => resellerConsoleRoute,
  path: '/reseller',
  staticData: { title: 'Home' },
  validateSearch: pick('days'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResellerHomePage'),
});
