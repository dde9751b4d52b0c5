import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { auditSearch } from '../../../audit/filter.ts';
import { administratorRoute } from '../../../shell/administrator.ts';

export const operatorAuditRoute = createRoute({
  getParentRoute: () => administratorRoute,
  path: '/admin/audit-log',
  staticData: { title: 'Audit log' },
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./page.tsx'), 'OperatorAuditPage'),
});
