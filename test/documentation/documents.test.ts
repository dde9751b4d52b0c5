import { existsSync, globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { loggedMessages } from './logged-messages.ts';
import { anchors, markdownFiles, readDocument, ROOT, withoutCode } from './markdown.ts';

/** Served to agents with the service's URLs, so they have no links between files. */
const SERVED = /^src\//;
/** The operation that docs/adding-an-operation.md adds as an example. */
const EXAMPLE = /renameApplication/;
const documents = markdownFiles().filter((file) => !SERVED.test(file));

interface Package {
  readonly version: string;
  readonly scripts: Record<string, string>;
}
const manifest = JSON.parse(readDocument('package.json')) as Package;

test.each(documents)('links of %s lead to files and headings', (file) => {
  const links = [...withoutCode(readDocument(file)).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
  const broken = links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path, anchor] = link.split('#') as [string, string?];
      const target = path === '' ? file : normalize(join(dirname(file), path));
      if (!existsSync(ROOT + target)) return true;
      return anchor !== undefined && !anchors(readDocument(target)).has(anchor);
    });
  expect(broken).toEqual([]);
});

test.each(documents)('files and folders that %s names exist', (file) => {
  const named = [
    ...readDocument(file).matchAll(/`((?:src|handlers|test|tools|openapi|bench|docs)\/[\w./-]*)`/g),
  ];
  const missing = named.map((match) => match[1]!).filter((path) => !existsSync(ROOT + path));
  expect(missing.filter((path) => !EXAMPLE.test(path))).toEqual([]);
});

test('every document can be reached from README', () => {
  const reached = new Set(['README.md']);
  for (const file of reached) {
    for (const [, link] of readDocument(file).matchAll(/\]\(([^)\s#]+\.md)(?:#[^)]*)?\)/g)) {
      if (!/^[a-z]+:/.test(link!)) reached.add(normalize(join(dirname(file), link!)));
    }
  }
  expect(documents.filter((file) => !reached.has(file))).toEqual([]);
});

test('the index of decisions lists each with its title', () => {
  const decisions = documents.filter((file) => /^docs\/decisions\/\d/.test(file));
  const titles = decisions.map((file) => {
    const [, title] = /^# (.+)$/m.exec(readDocument(file))!;
    expect(title, file).toMatch(new RegExp(`^${Number(/\/(\d{4})-/.exec(file)![1])}\\. `));
    return `[${title}](${file.slice('docs/decisions/'.length)})`;
  });
  const listed = [...readDocument('docs/decisions/README.md').matchAll(/^- (.*)$/gm)].map(
    (match) => match[1]!,
  );
  expect(listed.sort()).toEqual(titles.sort());
});

test('every script of package.json is documented', () => {
  const rows = [...readDocument('docs/reference/commands.md').matchAll(/^\| `npm (?:run )?([\w:-]+)`/gm)];
  expect(rows.map((match) => match[1]!).sort()).toEqual(Object.keys(manifest.scripts).sort());
});

test('docs/reference/log-messages.md lists every warning and error of the log, and no others', () => {
  const rows = readDocument('docs/reference/log-messages.md').matchAll(
    /^\| `([^`]+)` +\| (warn|error|fatal) +\|/gm,
  );
  const listed = [...rows].map(([, message, level]) => `${level}: ${message}`);
  const logged = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) => loggedMessages(readDocument(file)));
  expect(logged.length).toBeGreaterThan(40);
  // The message of a failed response is its error code.
  expect(listed.sort()).toEqual([...new Set(logged)].filter((each) => !each.endsWith(': code')).sort());
});

describe('the version', () => {
  const [, latest] = /^## \[?(\d+\.\d+\.\d+)/m.exec(readDocument('CHANGELOG.md'))!;

  test('of the package is the latest in the changelog', () => {
    expect(manifest.version).toBe(latest);
  });

  test('of the contract is the version of the package', () => {
    const { info } = parse(readDocument('openapi.yaml')) as { info: { version: string } };
    expect(info.version).toBe(manifest.version);
  });
});
