import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from './root.tsx';

/** The route of all pages of a reseller. */
export const resellerConsoleRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'reseller',
  component: lazyRouteComponent(() => import('./reseller-pages.tsx'), 'ResellerPages'),
});
