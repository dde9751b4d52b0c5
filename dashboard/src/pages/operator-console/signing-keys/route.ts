import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { administratorRoute } from '../../../shell/administrator.ts';

export const signingKeysRoute = createRoute({
  getParentRoute: () => administratorRoute,
  path: '/admin/signing-keys',
  staticData: { title: 'Signing keys' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'SigningKeysPage'),
});
