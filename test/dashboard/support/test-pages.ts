import { mkdirSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { startTestService } from '../../support/service.ts';
import type { Visitor } from './area.ts';
import { openPage, startBrowser, type Watched } from './browser.ts';
import { spoilTexts } from './hostile-texts.ts';
import { layoutFaultsOf } from './layout-faults.ts';
import { settle, violationsOf } from './page-checks.ts';
import { prepareAccount, ROUTES } from './routes.ts';
import { openConsole, openSignedIn } from './signed-in.ts';

/** A folder for a picture of each page, to look at. */
const PICTURES = process.env['DASHBOARD_PICTURES'];
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

/** Later than everything happened: what happened now has the shortest time that a page can show. */
const LATER_MS = 22 * 60_000;

interface Look {
  readonly viewport: { readonly width: number; readonly height: number };
  /** The first one is checked by all rules. Another one differs from it in its colors only. */
  readonly colorSchemes: readonly ('light' | 'dark')[];
  /** Whether every text that someone has written is hostile. */
  readonly isHostile?: boolean;
}

/**
 * Tests every page of the list: no violation of the policy, no error, no request to another origin, nothing that axe
 * finds, and no scrolling to the side.
 */
export async function testPages({ viewport, colorSchemes, isHostile = false }: Look): Promise<void> {
  const service = await startTestService();
  const browser = await startBrowser();
  const account = await prepareAccount(service);
  const options = { viewport, colorScheme: colorSchemes[0]! };

  const spoiled: (() => number)[] = [];
  let watched: Watched;
  beforeAll(async () => {
    watched = await openSignedIn(browser, service, account.developer, options);
    await makeLater(watched);
    if (isHostile) spoiled.push(await spoilTexts(watched.page));
  });
  const makeLater = ({ page }: Watched) =>
    page.context().clock.setFixedTime(new Date(service.clock.now().getTime() + LATER_MS));
  const consoles = new Map<Visitor, Promise<Watched>>();

  /** The page of a visitor, which is opened when the first of their pages is checked. */
  async function pageOf(visitor: Visitor): Promise<Watched> {
    if (visitor === 'developer') return watched;
    const { token } = { reseller: account.reseller, administrator: ADMINISTRATOR }[visitor];
    const open = async () => {
      const console = await openConsole(browser, service, visitor, { ...options, token });
      await makeLater(console);
      if (isHostile) spoiled.push(await spoilTexts(console.page));
      return console;
    };
    const opened = consoles.get(visitor) ?? open();
    consoles.set(visitor, opened);
    return opened;
  }

  async function check(name: string, opened: Watched, isScrolled = false) {
    for (const [at, colorScheme] of colorSchemes.entries()) {
      await opened.page.emulateMedia({ colorScheme });
      await settle(opened);
      if (PICTURES) {
        const path = `${PICTURES}/${name.replace(/\W+/g, '-')}-${viewport.width}-${colorScheme}.png`;
        await opened.page.screenshot({ path, fullPage: false });
      }
      expect(
        await violationsOf(opened, { rule: at === 0 ? undefined : 'color-contrast', isScrolled }),
        colorScheme,
      ).toEqual([]);
    }
    expect(opened.faults).toEqual([]);
    expect(await layoutFaultsOf(opened.page)).toEqual([]);
    for (const count of spoiled) expect(count()).toBeGreaterThan(0);
    await opened.page.emulateMedia({ colorScheme: options.colorScheme });
  }

  test.each(ROUTES)('$name', async ({ visitor, name, path, shows }) => {
    const opened = await pageOf(visitor);
    await opened.page.goto(`${service.baseUrl}/dashboard${path(account)}`);
    await opened.page.getByText(shows).first().waitFor();
    await check(name, opened);
  });

  test.each([['the palette', 'Control+k', 'Results']])('%s', async (name, key, shows) => {
    const { page } = watched;
    await page.goto(`${service.baseUrl}/dashboard/apps/${account.app.app_id}`);
    await page.getByText('Logins by version').first().waitFor();
    await page.keyboard.press(key);
    await page.getByLabel(shows).waitFor();
    await check(name, watched);
  });

  test('the navigation', async () => {
    const { page } = watched;
    await page.goto(`${service.baseUrl}/dashboard/apps/${account.app.app_id}`);
    await page.getByText('Logins by version').first().waitFor();
    // Where there is space for it, it is open next to the page.
    if (viewport.width < 800) await page.getByRole('button', { name: 'Open the navigation' }).click();
    const menu = page.getByRole('button', { name: / plan$/ });
    await menu.waitFor();
    await check('navigation', watched);
    const { y, height } = (await menu.boundingBox())!;
    expect(y + height).toBeLessThanOrEqual(viewport.height);
    await menu.click();
    await page.getByRole('menuitem', { name: 'API reference' }).waitFor();
    await check('account menu', watched);
  });

  test('a dialog over the details of a row', async () => {
    const { page } = watched;
    const { app, licenseId } = account;
    await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/licenses?license=${licenseId}`);
    await page.getByText('Identifier').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.waitFor();
    await check('a dialog over a drawer', watched);
    const isDrawerOnTop = await page.evaluate<boolean>(`(() => {
      const { x, y } = document.querySelector('[role="dialog"] [aria-label="Close"]').getBoundingClientRect();
      return document.elementFromPoint(x + 1, y + 1).closest('[role="dialog"]') !== null;
    })()`);
    expect(isDrawerOnTop).toBe(false);
    await page.keyboard.press('Escape');
  });

  test('the requests as curl', async () => {
    const { page } = watched;
    await page.goto(`${service.baseUrl}/dashboard/apps/${account.app.app_id}/users`);
    await page.getByText('grace.hopper').first().waitFor();
    await page.getByRole('button', { name: 'Show as curl' }).click();
    await page.getByText('YOUR_API_TOKEN').first().waitFor();
    await check('curl', watched);
  });

  test('chosen rows', async () => {
    const { page } = watched;
    await page.goto(`${service.baseUrl}/dashboard/apps/${account.app.app_id}/users`);
    await page.getByLabel('Select linus').check();
    await page.getByLabel('Select ken').check();
    await page.getByText('2 selected').waitFor();
    if (isHostile) await page.getByRole('link', { name: 'grace.hopper <img src=x' }).waitFor();
    // At the end of the list, where the bar covers no row.
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await check('chosen rows', watched, true);
  });

  test.each([
    ['sign-in', '', 'Sign in to the dashboard'],
    ['sign-up', '/sign-up', 'Create an account'],
    ['sign-in of a reseller', '/reseller', 'Sign in as a reseller'],
    ['sign-in of the administrator', '/admin', 'Sign in as the administrator'],
  ])('the %s', async (name, path, shows) => {
    const fresh = await openPage(browser, {
      origin: service.baseUrl,
      now: service.clock.now(),
      ...options,
    });
    await fresh.page.goto(`${service.baseUrl}/dashboard${path}`);
    await fresh.page.getByRole('heading', { name: shows }).waitFor();
    await check(name, fresh);
  });
}
