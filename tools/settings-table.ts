import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { settings } from '../src/settings.ts';

const README = 'README.md';
const BEGIN = '<!-- settings: made by npm run generate from src/settings.ts -->';
const END = '<!-- /settings -->';

/** README with its table of settings made anew, formatted as prettier would. */
async function withTable(readme: string): Promise<string> {
  const [before, rest] = split(readme, BEGIN);
  const [, after] = split(rest, END);
  const rows = Object.entries(settings).map(
    ([name, setting]) => `| \`${name}\` | ${setting.default} | ${setting.description} |`,
  );
  const table = ['| setting | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
  return format(`${before}${BEGIN}\n\n${table}\n\n${END}${after}`, { parser: 'markdown' });
}

function split(text: string, mark: string): [string, string] {
  const place = text.indexOf(mark);
  if (place < 0) throw new Error(`${README} lacks ${mark}`);
  return [text.slice(0, place), text.slice(place + mark.length)];
}

const present = readFileSync(README, 'utf8');
const wanted = await withTable(present);
if (!process.argv.includes('--check')) {
  writeFileSync(README, wanted);
} else if (present !== wanted) {
  process.stderr.write(`differs ${README}: run npm run generate\n`);
  process.exitCode = 1;
}
