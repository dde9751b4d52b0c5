import { expect, test } from 'vitest';
import { startBrowser } from './support/browser.ts';
import { layoutFaultsOf } from './support/layout-faults.ts';

const page = await (await startBrowser()).newPage();

const CELL = 'overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:60px';

/** What the tests of all pages find in a document. */
async function faultsOf(body: string): Promise<readonly string[]> {
  await page.setContent(`<!doctype html><body style="margin:0">${body}</body>`);
  return layoutFaultsOf(page);
}

test.each([
  [
    'a badge that its cell cuts',
    `<table><tr><td style="${CELL}"><span style="display:inline-flex">nothing sent yet</span></td></tr></table>`,
    /^cut without an ellipsis: nothing sent yet/,
  ],
  [
    'a long word that ends at the edge',
    '<div style="overflow:hidden;width:60px">a94a8fe5ccb19ba61c4c0873d391e987982fbbd3</div>',
    /^cut without an ellipsis: a94a8/,
  ],
  [
    'a time in UTC',
    '<p>expires_at <bdi>2026-12-25T02:06:28.654Z</bdi></p>',
    /^a time as the service writes it: 2026/,
  ],
  [
    'two columns with one name',
    '<main><table><thead><tr><th>Key<th>Status<th>Key</table></main>',
    /^two columns with the name Key/,
  ],
])('%s is found', async (_name, body, fault) => {
  expect(await faultsOf(body)).toEqual([expect.stringMatching(fault)]);
});

test.each([
  ['a text with an ellipsis', `<div style="${CELL}">a text that is too long</div>`],
  ['code that can be scrolled', '<pre style="overflow:auto;width:60px">"2026-12-25T02:06:28.654Z"</pre>'],
  ['what only a screen reader gets', '<p style="overflow:hidden;width:1px;white-space:nowrap">a text</p>'],
])('%s is no fault', async (_name, body) => {
  expect(await faultsOf(body)).toEqual([]);
});
