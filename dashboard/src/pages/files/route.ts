import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const filesRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/files',
  staticData: { title: 'Files' },
  validateSearch: pick('q', 'access', 'file'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'FilesPage'),
});
