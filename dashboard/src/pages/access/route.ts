import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { developerRoute } from '../../shell/developer.ts';

export const accessRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/access',
  staticData: { title: 'Access' },
  validateSearch: pick('tab', 'create', 'client', 'agent'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'AccessPage'),
});
