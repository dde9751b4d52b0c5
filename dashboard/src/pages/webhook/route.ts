import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const webhookRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/webhooks/$webhookId',
  staticData: { title: 'Webhook' },
  validateSearch: pick('state', 'type', 'delivery', 'replay'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'WebhookPage'),
});
