import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { developerRoute } from '../../shell/developer.ts';

export const resellersRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/resellers',
  staticData: { title: 'Resellers' },
  validateSearch: pick('create'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResellersPage'),
});
