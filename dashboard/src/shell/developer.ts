import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from './root.tsx';

/** The route of all pages of a developer. Their frame is not part of the sign-in page. */
export const developerRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'developer',
  component: lazyRouteComponent(() => import('./developer-pages.tsx'), 'DeveloperPages'),
});
