import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { developerRoute } from '../../shell/developer.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/',
  staticData: { title: 'Overview' },
  validateSearch: pick('create'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'OverviewPage'),
});
