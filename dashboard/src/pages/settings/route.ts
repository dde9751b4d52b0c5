import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { applicationRoute } from '../../shell/application.tsx';

export const settingsRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/settings',
  staticData: { title: 'Settings' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'SettingsPage'),
});
