import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

/** The configured time of a poll, in milliseconds. */
const POLL_MS = 20_000;

/** Whose time is what they test, and why. */
const EXACT: Readonly<Record<string, string>> = {
  'test/security/access.test.ts': 'a leaked transaction is ended by itself after ten seconds',
};

/** Waits that give up earlier than the configured polls, and therefore on a busy machine only. */
function shortWaits(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, at) => {
    const [, ms] = /\btimeout: ([\d_]+)(?! \*)\b/.exec(line) ?? [];
    const isShort = ms !== undefined && Number(ms.replaceAll('_', '')) < POLL_MS;
    return isShort || line.includes('networkidle') ? [`${file}:${at + 1} ${line.trim()}`] : [];
  });
}

test.each([
  'await expect.poll(read, { timeout: 5_000 }).toBe(1);',
  'await vi.waitFor(read, { interval: 10, timeout: 1500 });',
  "await page.waitForLoadState('networkidle');",
])('%s is found', (code) => expect(shortWaits('x.ts', code)).toHaveLength(1));

test.each(['await expect.poll(read, { timeout: 60_000 }).toBe(1);', 'await expect.poll(read).toBe(1);'])(
  '%s is allowed',
  (code) => expect(shortWaits('x.ts', code)).toEqual([]),
);

test('no test gives up sooner than the configured time', () => {
  const files = globSync('test/**/*.ts', {
    cwd: root,
    exclude: ['test/architecture/**', 'test/generators/**', 'test/faults/long/**'],
  });
  expect(files.length).toBeGreaterThan(400);
  const config = readFileSync(new URL('vitest.config.ts', root), 'utf8');
  expect(config).toContain('poll: { timeout: 20_000 }');
  const found = files.flatMap((file) => shortWaits(file, readFileSync(new URL(file, root), 'utf8')));
  expect(found.filter((line) => !EXACT[line.split(':')[0]!])).toEqual([]);
  expect(found).toHaveLength(Object.keys(EXACT).length);
});
