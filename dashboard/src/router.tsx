import { createRouter } from '@tanstack/react-router';
import { DASHBOARD } from './api/base.ts';
import { parseSearch, stringifySearch } from './lib/search.ts';
import { filesRoute } from './pages/files/route.ts';
import { accountEventsRoute } from './pages/account-events/route.ts';
import { bansRoute } from './pages/bans/route.ts';
import { eventsRoute } from './pages/events/route.ts';
import { licensesRoute } from './pages/licenses/route.ts';
import { overviewRoute } from './pages/overview/route.ts';
import { sessionsRoute } from './pages/sessions/route.ts';
import { accessRoute } from './pages/access/route.ts';
import { auditLogRoute } from './pages/audit-log/route.ts';
import { planRoute } from './pages/plan/route.ts';
import { resellerRoute } from './pages/reseller/route.ts';
import { resellersRoute } from './pages/resellers/route.ts';
import { settingsRoute } from './pages/settings/route.ts';
import { operatorAuditRoute } from './pages/operator-console/audit-log/route.ts';
import { developerAccountRoute } from './pages/operator-console/developer/route.ts';
import { developersRoute } from './pages/operator-console/developers/route.ts';
import { operatorHomeRoute } from './pages/operator-console/home/route.ts';
import { operatorInvoicesRoute } from './pages/operator-console/invoices/route.ts';
import { plansRoute } from './pages/operator-console/plans/route.ts';
import { signingKeysRoute } from './pages/operator-console/signing-keys/route.ts';
import { resellerBuyRoute } from './pages/reseller-console/buy/route.ts';
import { resellerHomeRoute } from './pages/reseller-console/home/route.ts';
import { resellerKeysRoute } from './pages/reseller-console/keys/route.ts';
import { resellerLedgerRoute } from './pages/reseller-console/ledger/route.ts';
import { resellerUsersRoute } from './pages/reseller-console/users/route.ts';
import {
  administratorSignInRoute,
  resellerSignInRoute,
  signInRoute,
  signUpRoute,
} from './pages/sign-in/route.ts';
import { statisticsRoute } from './pages/statistics/route.ts';
import { userRoute } from './pages/user/route.ts';
import { usersRoute } from './pages/users/route.ts';
import { variablesRoute } from './pages/variables/route.ts';
import { webhookRoute } from './pages/webhook/route.ts';
import { webhooksRoute } from './pages/webhooks/route.ts';
import { administratorRoute } from './shell/administrator.ts';
import { applicationRoute } from './shell/application.tsx';
import { developerRoute } from './shell/developer.ts';
import { resellerConsoleRoute } from './shell/reseller.ts';
import { rootRoute } from './shell/root.tsx';

/** Every page. A new one is a folder in `pages/` with a `route.ts`, and a line here. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  signUpRoute,
  resellerSignInRoute,
  administratorSignInRoute,
  developerRoute.addChildren([
    overviewRoute,
    accountEventsRoute,
    resellersRoute,
    resellerRoute,
    accessRoute,
    auditLogRoute,
    planRoute,
    applicationRoute.addChildren([
      statisticsRoute,
      licensesRoute,
      usersRoute,
      userRoute,
      variablesRoute,
      filesRoute,
      webhooksRoute,
      webhookRoute,
      sessionsRoute,
      bansRoute,
      eventsRoute,
      settingsRoute,
    ]),
  ]),
  resellerConsoleRoute.addChildren([
    resellerHomeRoute,
    resellerBuyRoute,
    resellerKeysRoute,
    resellerUsersRoute,
    resellerLedgerRoute,
  ]),
  administratorRoute.addChildren([
    operatorHomeRoute,
    developersRoute,
    developerAccountRoute,
    operatorInvoicesRoute,
    plansRoute,
    signingKeysRoute,
    operatorAuditRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: DASHBOARD,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
