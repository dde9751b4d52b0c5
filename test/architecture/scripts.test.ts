import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

/** Syntax that cmd.exe and POSIX shells read differently. */
const SHELL_ONLY: readonly [what: string, pattern: RegExp][] = [
  ['single quotes do not quote on Windows', /'/],
  ['variables of the shell', /\$|%/],
  ['backticks and other expansions', /[`~{}]/],
  ['separators other than &&', /;|(?<!&)&(?!&)|\|/],
  ['redirections', /[<>]/],
  ['a backslash is a separator of paths on Windows only', /\\/],
  ['settings in front of a command', /(?:^|&& )\w+=/],
  [
    'commands of a POSIX shell',
    /(?:^|&& )(?:exec|export|set|source|\.|cd|cp|mv|rm|mkdir|cat|touch|test|env)\b/,
  ],
  ['a pattern that the shell would expand', /(?:^|\s)[^"\s]*[*?[\]][^"\s]*(?=\s|$)/],
];
/** A pattern in double quotes, which the program expands itself, so the shell does not see its braces. */
const QUOTED = /"[^"$`\\%]*"/g;

/** @returns the syntax in a script that only one kind of shell understands */
function shellOnly(script: string): string[] {
  const bare = script.replace(QUOTED, '""');
  return SHELL_ONLY.filter(([, pattern]) => pattern.test(bare)).map(([what]) => what);
}

test.each(Object.entries(packageJson.scripts))('npm run %s works in every shell', (_name, script) => {
  expect(shellOnly(script)).toEqual([]);
});

test.each([
  'exec node src/main.ts',
  'tsc && rm -r built',
  'PORT=1 node src/main.ts',
  'tsc && PORT=1 node src/main.ts',
  "vitest run --exclude 'test/a/**'",
  'vitest run test/*/a.test.ts',
  'vitest run --exclude test/{a,b}/c.test.ts',
  'node src/main.ts --port $PORT',
  'node "src/$NAME.ts"',
  'node %NAME%.ts',
  'node `which tool`',
  'tsc; node src/main.ts',
  'tsc & node src/main.ts',
  'tsc || node src/main.ts',
  'tsc | cat',
  'tsc > log',
  'node src\\main.ts',
  'node ~/main.ts',
])('%j would not', (script) => {
  expect(shellOnly(script)).not.toEqual([]);
});
