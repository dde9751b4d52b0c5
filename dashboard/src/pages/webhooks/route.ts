import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const webhooksRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/webhooks',
  staticData: { title: 'Webhooks' },
  validateSearch: pick('create'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'WebhooksPage'),
});
