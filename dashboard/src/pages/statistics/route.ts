import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pick } from '../../lib/search.ts';
import { applicationRoute } from '../../shell/application.tsx';

export const statisticsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/',
  staticData: { title: 'Statistics' },
  validateSearch: pick('days', 'by'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'StatisticsPage'),
});
