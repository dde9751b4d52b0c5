import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { auditSearch } from '../../audit/filter.ts';
import { developerRoute } from '../../shell/developer.ts';

export const auditLogRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/audit-log',
  staticData: { title: 'Audit log' },
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./page.tsx'), 'AuditLogPage'),
});
