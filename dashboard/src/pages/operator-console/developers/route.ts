import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../../lib/search.ts';
import { administratorRoute } from '../../../shell/administrator.ts';

export const developersRoute = createRoute({
  getParentRoute: () => administratorRoute,
  path: '/admin/developers',
  staticData: { title: 'Developers' },
  validateSearch: pick('q', 'plan', 'suspended'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'DevelopersPage'),
});
