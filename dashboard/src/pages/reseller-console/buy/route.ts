import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../../lib/search.ts';
import { resellerConsoleRoute } from '../../../shell/reseller.ts';

export const resellerBuyRoute = createRoute({
  getParentRoute: () => resellerConsoleRoute,
  path: '/reseller/buy',
  staticData: { title: 'Buy keys' },
  validateSearch: pick('app', 'tier', 'days'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResellerBuyPage'),
});
