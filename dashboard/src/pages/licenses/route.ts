import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const licensesRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/licenses',
  staticData: { title: 'Licenses' },
  validateSearch: pick('q', 'status', 'tier', 'license', 'create', 'import'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'LicensesPage'),
});
