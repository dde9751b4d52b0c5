import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { rootRoute } from '../../shell/root.tsx';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  staticData: { title: 'Sign in' },
  validateSearch: pick('return'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'DeveloperSignIn'),
});

export const signUpRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  staticData: { title: 'Create an account' },
  validateSearch: pick('return'),
  component: lazyRouteComponent(() => import('./sign-up.tsx'), 'SignUpPage'),
});

export const resellerSignInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reseller/sign-in',
  staticData: { title: 'Sign in as a reseller' },
  validateSearch: pick('return'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ResellerSignIn'),
});

export const administratorSignInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin/sign-in',
  staticData: { title: 'Sign in as the administrator' },
  validateSearch: pick('return'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'AdministratorSignIn'),
});
