import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { administratorRoute } from '../../../shell/administrator.ts';

export const developerAccountRoute = createRoute({
  getParentRoute: () => administratorRoute,
  path: '/admin/developers/$developerId',
  staticData: { title: 'Developer' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'DeveloperPage'),
});
