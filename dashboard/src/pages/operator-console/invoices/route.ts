import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../../lib/search.ts';
import { administratorRoute } from '../../../shell/administrator.ts';

export const operatorInvoicesRoute = createRoute({
  getParentRoute: () => administratorRoute,
  path: '/admin/invoices',
  staticData: { title: 'Invoices' },
  validateSearch: pick('developer', 'state', 'invoice'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'OperatorInvoicesPage'),
});
