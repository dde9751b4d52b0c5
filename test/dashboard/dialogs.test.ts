import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ADMINISTRATOR } from '../support/billing.ts';
import { startTestService } from '../support/service.ts';
import type { Visitor } from './support/area.ts';
import { startBrowser, type Watched } from './support/browser.ts';
import { openEverything, stayInDashboard, type Crawl } from './support/crawl.ts';
import { settle } from './support/page-checks.ts';
import { prepareAccount, ROUTES } from './support/routes.ts';
import { openConsole, openSignedIn } from './support/signed-in.ts';

const service = await startTestService();
const browser = await startBrowser();
const account = await prepareAccount(service);
const VIEWPORT = { width: 1280, height: 860 };

const open: Readonly<Record<Visitor, () => Promise<Watched>>> = {
  developer: () => openSignedIn(browser, service, account.developer, { viewport: VIEWPORT }),
  reseller: () => openConsole(browser, service, 'reseller', { ...account.reseller, viewport: VIEWPORT }),
  administrator: () =>
    openConsole(browser, service, 'administrator', { ...ADMINISTRATOR, viewport: VIEWPORT }),
};

test.each(['developer', 'reseller', 'administrator'] as const)(
  'all that buttons open in the console of the %s',
  { timeout: 300_000 },
  async (visitor) => {
    const watched = await open[visitor]();
    const { page } = watched;
    await stayInDashboard(page);
    const crawl: Crawl = { opened: new Map(), pressed: new Set(), faults: [] };
    for (const route of ROUTES.filter((each) => each.visitor === visitor)) {
      await page.goto(`${service.baseUrl}/dashboard${route.path(account)}`);
      await page.getByText(route.shows).first().waitFor();
      await settle(watched);
      await openEverything(watched, crawl);
    }
    await openEverything(watched, crawl, '#root');
    expect([...new Set(crawl.faults)]).toEqual([]);
    // Refused changes are reported as well.
    expect(watched.faults.filter((fault) => /^(policy|error):/.test(fault))).toEqual([]);
    expect(crawl.opened.size).toBeGreaterThan({ developer: 40, reseller: 2, administrator: 8 }[visitor]);
  },
);

/** The pages that are opened without a session, by the tests of pages. */
const SIGN_INS = ['/sign-in', '/sign-up', '/reseller/sign-in', '/admin/sign-in'];

test('every page of the dashboard is on the list of those that tests open', () => {
  const texts = globSync('dashboard/src/pages/**/route.ts').map((file) => readFileSync(file, 'utf8'));
  const patterns = texts.flatMap((text) =>
    [...text.matchAll(/getParentRoute: \(\) => (\w+),\s+path: '([^']+)'/g)].map(([, parent, path]) =>
      parent === 'applicationRoute' ? `/apps/$appId${path}` : path!,
    ),
  );
  expect(patterns.length).toBeGreaterThan(30);
  const opened = ROUTES.map((route) => route.path(account).replace(/\?.*/, '') || '/');
  const isOpened = (pattern: string) => {
    const path = new RegExp(`^${pattern.replaceAll(/\$\w+/g, '[^/]+').replace(/(?<=.)\/$/, '')}$`);
    return opened.some((each) => path.test(each));
  };
  expect(patterns.filter((pattern) => !isOpened(pattern)).toSorted()).toEqual(SIGN_INS.toSorted());
});
