import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const userRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/users/$userId',
  staticData: { title: 'User' },
  validateSearch: pick('tab', 'event'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'UserPage'),
});
