import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const usersRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/users',
  staticData: { title: 'Users' },
  validateSearch: pick(
    'q',
    'banned',
    'tier',
    'machine',
    'since',
    'subscription',
    'ends',
    'sort',
    'create',
    'import',
  ),
  component: lazyRouteComponent(() => import('./page.tsx'), 'UsersPage'),
});
