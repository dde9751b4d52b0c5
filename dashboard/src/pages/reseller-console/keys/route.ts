import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../../lib/search.ts';
import { resellerConsoleRoute } from '../../../shell/reseller.ts';

export const resellerKeysRoute = createRoute({
  getParentRoute: () => resellerConsoleRoute,
  path: '/reseller/keys',
  staticData: { title: 'Keys' },
  validateSearch: pick('status', 'app', 'key'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResellerKeysPage'),
});
