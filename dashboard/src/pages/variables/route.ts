import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const variablesRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/variables',
  staticData: { title: 'Variables' },
  validateSearch: pick('q', 'visibility', 'variable', 'create'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'VariablesPage'),
});
