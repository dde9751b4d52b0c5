import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const bansRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/bans',
  staticData: { title: 'Bans' },
  validateSearch: pick('kind', 'state', 'create'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'BansPage'),
});
