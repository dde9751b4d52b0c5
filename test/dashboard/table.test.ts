import { expect, test } from 'vitest';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
import { gone } from './support/gone.ts';
import { openSignedIn } from './support/signed-in.ts';

const service = await startTestService();
const browser = await startBrowser();

const MOST_ROWS = 60;

test('a long list scrolls with at most 60 rows in the document', async () => {
  const developer = await newDeveloper(service.api);
  const app = await newApp(service.api, developer);
  await app.keys(2_000);
  const { page, faults } = await openSignedIn(browser, service, developer);
  await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/licenses`);
  await page.getByText('100+ licenses').waitFor();
  const rows = () => page.evaluate<number>(`document.querySelectorAll('tbody tr[aria-rowindex]').length`);
  let most = await rows();
  for (let loaded = 100; loaded < 600; loaded += 100) {
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.getByText(`${loaded + 100}+ licenses`).waitFor();
    most = Math.max(most, await rows());
  }
  expect(most).toBeGreaterThan(10);
  expect(most).toBeLessThanOrEqual(MOST_ROWS);

  // The row that has the focus stays, however far the reader scrolls.
  const row = page.locator('tbody tr[aria-rowindex="500"]');
  await page.evaluate('scrollTo(0, 45 * 490)');
  await row.getByRole('checkbox').focus();
  await page.evaluate('scrollTo(0, 0)');
  await page.locator('tbody tr[aria-rowindex="2"]').waitFor();
  await expect.poll(() => row.count()).toBe(1);
  expect(await rows()).toBeLessThanOrEqual(MOST_ROWS);
  expect(faults).toEqual([]);
});

test('100,000 licenses scroll from the first to the last with at most 60 rows in the document', async () => {
  const developer = await newDeveloper(service.api);
  const app = await newApp(service.api, developer);
  await app.keys(1);
  const { page, faults } = await openSignedIn(browser, service, developer);
  const path = `/apps/${app.app_id}/licenses`;
  const { body } = await service.api.call<{ data: readonly object[] }>(
    'GET',
    `/api/v2/dev${path}`,
    undefined,
    {
      token: developer.token,
    },
  );
  // Pages of 5,000, so that 20 responses are enough.
  const SIZE = 5_000;
  await page.route(`**/api/v2/dev${path}?*`, (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const data = Array.from({ length: SIZE }, (_, at) => ({
      ...body.data[0],
      license_id: `lic_${from + at}`,
      license_key: `KEY-${from + at + 1}`,
    }));
    return route.fulfill({
      json: { status: 'success', data, next_cursor: from + SIZE < 100_000 ? String(from + SIZE) : null },
    });
  });
  await page.goto(`${service.baseUrl}/dashboard${path}`);
  await page.getByText('5,000+ licenses').waitFor();
  const most = await page.evaluate<number>(`new Promise((resolve) => {
    let most = 0;
    const step = () => {
      most = Math.max(most, document.querySelectorAll('tbody tr[aria-rowindex]').length);
      if (document.querySelector('tr[aria-rowindex="100001"]')) return resolve(most);
      scrollTo(0, document.body.scrollHeight);
      requestAnimationFrame(step);
    };
    step();
  })`);
  expect(most).toBeGreaterThan(10);
  expect(most).toBeLessThanOrEqual(MOST_ROWS);
  await page.getByText('KEY-100000', { exact: true }).waitFor();
  await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
  await page.locator('tr[aria-rowindex="50001"]').waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await page.getByText('KEY-1', { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test('names are inert, also with HTML in them', async () => {
  const developer = await newDeveloper(service.api);
  const app = await newApp(service.api, developer);
  const name = '<img src=x onerror=alert(1)>';
  await app.patch({ name, tiers: ['<script>alert(1)</script>', 'a'.repeat(64)] });
  await service.api.post(
    `/api/v2/dev/apps/${app.app_id}/licenses`,
    { amount: 1, tier: 'a'.repeat(64), lifetime: true, note: '<svg onload=alert(1)> \u202eevil' },
    { token: developer.token },
  );
  const { page, faults, idle } = await openSignedIn(browser, service, developer, {
    viewport: { width: 360, height: 740 },
  });
  await page.getByRole('table').getByText(name).waitFor();
  for (const path of ['', '/licenses', '/users', '/settings']) {
    await page.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await idle();
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth'), { message: path })
      .toBe(true);
  }
  await gone(page.locator('img, main script'));
  expect(faults).toEqual([]);
});
