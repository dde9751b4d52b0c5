import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dashboard } from '../../tools/generate/dashboard.ts';
import { difference } from '../../tools/generate/output.ts';

const KB = 1024;
const files = await dashboard();
const contentOf = new Map(files.map(({ file, content }) => [file.replace('dashboard/', ''), content]));
const sizeOf = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + gzipSync(contentOf.get(name)!, { level: 9 }).length, 0);
const scripts = [...contentOf.keys()].filter((name) => name.endsWith('.js'));

/** The scripts that a script loads before it runs. */
function loadedBy(name: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const imports = contentOf
    .get(name)!
    .matchAll(/(?:^|[;}\s])(?:import|export)[^"'`();]*?["'`]\.\/([\w.-]+\.js)["'`]/g);
  for (const [, file] of imports) loadedBy(`assets/${file}`, seen);
  return seen;
}

/** The scripts that the document names, also those that it only preloads, with what they load. */
const entry = new Set(
  [...contentOf.get('index.html')!.matchAll(/(?:src|href)="\.\/([^"]+\.js)"/g)].flatMap(([, name]) => [
    ...loadedBy(name!),
  ]),
);
/** The scripts that are loaded when they are needed, each with what it loads in addition. */
const dynamic = scripts
  .filter((name) =>
    scripts.some((other) =>
      new RegExp(`import\\(["'\`]\\./${name.replace('assets/', '').replaceAll('.', '\\.')}`).test(
        contentOf.get(other)!,
      ),
    ),
  )
  .map((name) => [name, new Set([...loadedBy(name)].filter((file) => !entry.has(file)))] as const);

test('two builds are the same, and are what is committed', async () => {
  expect(await dashboard()).toEqual(files);
  const committed = files.map(({ file, content }) => ({ file: file.replace('dashboard/', ''), content }));
  expect(difference('generated/dashboard', committed)).toEqual({ changed: [], stale: [] });
});

test('no address of this machine, no source map, and no other host is in a file', () => {
  for (const [name, content] of contentOf) {
    expect(content.includes(process.cwd()), name).toBe(false);
    expect(content.includes('sourceMappingURL'), name).toBe(false);
  }
});

test('the first page loads at most 170 KB of scripts', () => {
  expect(entry.size).toBeGreaterThan(1);
  expect(sizeOf(entry)).toBeLessThanOrEqual(170 * KB);
});

test('each part that is loaded later adds at most 60 KB', () => {
  expect(dynamic.length).toBeGreaterThan(5);
  for (const [name, added] of dynamic) expect(sizeOf(added), name).toBeLessThanOrEqual(60 * KB);
});

test('a page is at most ten scripts, because each costs a slow device a request of its own', () => {
  for (const [name, added] of dynamic) expect(entry.size + added.size, name).toBeLessThanOrEqual(10);
});

test('everything together is at most 320 KB, of which styles are at most 25 KB', () => {
  const styles = [...contentOf.keys()].filter((name) => name.endsWith('.css'));
  expect(sizeOf(styles)).toBeLessThanOrEqual(25 * KB);
  expect(sizeOf(contentOf.keys())).toBeLessThanOrEqual(320 * KB);
});

test('the service reads what is committed', () => {
  expect(readFileSync('generated/dashboard/index.html', 'utf8')).toBe(contentOf.get('index.html'));
});
