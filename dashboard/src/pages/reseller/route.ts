import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { developerRoute } from '../../shell/developer.ts';

export const resellerRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/resellers/$resellerId',
  staticData: { title: 'Reseller' },
  validateSearch: pick('tab', 'days', 'create'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResellerPage'),
});
