import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { Page, Request } from 'playwright-core';
import type { Watched } from './browser.ts';
import { layoutFaultsOf } from './layout-faults.ts';
import { settle, settleAnimations, violationsOf } from './page-checks.ts';

const DIALOG = '[role=dialog], [role=alertdialog]';
const MENU = '[role=menu]:popover-open';
const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 360, height: 740 };
/** They close what they are in. */
const CLOSING = ['Close', 'Cancel', 'Done'];
/** A folder for a picture of each dialog, to look at. */
const PICTURES = process.env['DASHBOARD_PICTURES'];
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

/** What was opened, and what is wrong with it. */
export interface Crawl {
  /** Where each dialog was opened first, by its title. */
  readonly opened: Map<string, string>;
  /** The buttons that were pressed, by page and name. */
  readonly pressed: Set<string>;
  readonly faults: string[];
}

/** Refuses every change and every way to another page, because the buttons that are pressed may lead to them. */
export async function stayInDashboard(page: Page): Promise<void> {
  const context = page.context();
  context.on('page', (opened) => void opened.close());
  await context.route(
    (url) => !url.pathname.startsWith('/dashboard'),
    (route) => (route.request().isNavigationRequest() ? route.abort() : route.fallback()),
  );
  const problem = {
    type: 'about:blank',
    title: 'Refused by the test',
    status: 403,
    detail: 'The test allows no changes.',
    code: 'INSUFFICIENT_SCOPE',
  };
  await page.route(/\/api\//, (route) =>
    ['GET', 'HEAD'].includes(route.request().method())
      ? route.fallback()
      : route.fulfill({
          status: 403,
          contentType: 'application/problem+json',
          body: JSON.stringify(problem),
        }),
  );
}

/**
 * Opens everything that buttons open: dialogs, drawers, and the dialogs of menus' items. Checks each dialog once: what
 * axe finds, the contrast of the other colors, the layout in a narrow window, and that Escape closes it and returns the
 * focus.
 */
export async function openEverything(watched: Watched, crawl: Crawl, part = 'main'): Promise<void> {
  const { page } = watched;
  // Some addresses open a dialog, whose buttons can be pressed instead of those of the page.
  const within = (await countOf(page, DIALOG)) > 0 ? DIALOG : part;
  const address = page.url();
  // Without ids: a page has the same buttons for everything that it shows.
  const path = new URL(address).pathname.replaceAll(/[a-z]+_[0-9a-z]{26}/g, 'id');
  const before = await countOf(page, DIALOG);
  for (const name of await namesIn(page, within)) {
    const place = `${path} ${name}`;
    if (crawl.pressed.has(place) || !(await press(watched, within, name))) continue;
    crawl.pressed.add(place);
    const items = await textsOf(page, `${MENU} button[role=menuitem]`);
    if (items.length === 0) await inspect(watched, before, place, crawl);
    else await page.keyboard.press('Escape');
    for (const item of items) {
      await press(watched, within, name);
      await page.locator(MENU).getByRole('menuitem', { name: item, exact: true }).first().click();
      await rendered(page);
      await inspect(watched, before, `${place}, ${item}`, crawl);
      await rendered(page);
      if (page.url() !== address) await reopen(watched, address);
    }
    await rendered(page);
    if (page.url() !== address || (await countOf(page, within)) === 0) await reopen(watched, address);
  }
}

/** The buttons of a part of the page, by name, without those of similar rows. What runs in the page. */
const BUTTONS = `(within) => [...document.querySelectorAll(within)].flatMap((part) =>
  [...part.querySelectorAll('button')]
    .filter((each) => !each.disabled && each.checkVisibility())
    .filter((each) => !each.closest('[role=tablist], tbody > tr:nth-child(n + 3)'))
    .map((each) => [(each.ariaLabel ?? each.innerText).replaceAll(/\\s+/g, ' ').trim(), each]))`;

/** The names of buttons, each once: every row of a table has the same ones. */
async function namesIn(page: Page, within: string): Promise<readonly string[]> {
  const names = await page.evaluate<string[]>(
    `(${BUTTONS})(${JSON.stringify(within)}).map(([name]) => name)`,
  );
  return [...new Set(names)].filter((name) => name !== '' && !CLOSING.includes(name));
}

/** Presses the first button of a name. @returns whether there is one: what an earlier one did may have removed it */
async function press(watched: Watched, within: string, name: string): Promise<boolean> {
  const { page } = watched;
  const isMarked = await page.evaluate<boolean>(`(() => {
    document.querySelector('[data-next]')?.removeAttribute('data-next');
    const [, button] = (${BUTTONS})(${JSON.stringify(within)}).find(([name]) => name === ${JSON.stringify(name)}) ?? [];
    button?.setAttribute('data-next', '');
    return button !== undefined;
  })()`);
  if (!isMarked) return false;
  let isLoading = false;
  const note = (request: Request) => (isLoading ||= request.resourceType() === 'script');
  page.on('request', note);
  await page.locator('[data-next]').click();
  await rendered(page);
  page.off('request', note);
  // Some dialogs are loaded when they are opened for the first time.
  if (isLoading) {
    await settle(watched);
    await rendered(page);
  }
  return true;
}

/** Checks the dialog that a button has opened, if it has, and closes it. @param before how many were open */
async function inspect(watched: Watched, before: number, place: string, crawl: Crawl): Promise<void> {
  const { page } = watched;
  const dialogs = page.locator(DIALOG);
  if ((await countOf(page, DIALOG)) <= before) return;
  const title = (await dialogs.last().getByRole('heading').first().innerText()).trim();
  const add = (fault: string) => crawl.faults.push(`${place} > ${title}: ${fault}`);
  if (!crawl.opened.has(title)) {
    crawl.opened.set(title, place);
    await settle(watched);
    for (const fault of await violationsOf(watched, { within: DIALOG })) add(fault);
    await page.emulateMedia({ colorScheme: 'dark' });
    await settleAnimations(page);
    for (const fault of await violationsOf(watched, { within: DIALOG, rule: 'color-contrast' }))
      add(`dark: ${fault}`);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(NARROW);
    await rendered(page);
    for (const fault of await layoutFaultsOf(page)) add(fault);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/dialog-${place.replace(/\W+/g, '-')}.png` });
    await page.setViewportSize(WIDE);
  }
  await page.keyboard.press('Escape');
  try {
    await expect.poll(() => dialogs.count()).toBe(before);
  } catch {
    add('Escape does not close it');
  }
  if (await page.evaluate('document.activeElement === document.body'))
    add('the focus is lost when it closes');
}

const countOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate<number>(`document.querySelectorAll(${JSON.stringify(selector)}).length`);

const textsOf = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.innerText)`,
  );

/** Waits until what a click changed is in the document. */
const rendered = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');

async function reopen(watched: Watched, address: string): Promise<void> {
  await watched.page.goto(address);
  await settle(watched);
}
