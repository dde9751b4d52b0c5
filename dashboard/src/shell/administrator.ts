import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from './root.tsx';

/** The route of all pages of the operator. */
export const administratorRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'administrator',
  component: lazyRouteComponent(() => import('./administrator-pages.tsx'), 'AdministratorPages'),
});
