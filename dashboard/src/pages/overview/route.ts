import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { developerRoute } from '../../shell/developer.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/',
  staticData: { title: 'Overview' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'OverviewPage'),
});
