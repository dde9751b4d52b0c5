import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../../lib/search.ts';
import { resellerConsoleRoute } from '../../../shell/reseller.ts';

export const resellerLedgerRoute = createRoute({
  getParentRoute: () => resellerConsoleRoute,
  path: '/reseller/ledger',
  staticData: { title: 'Ledger' },
  validateSearch: pick('entry'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResellerLedgerPage'),
});
