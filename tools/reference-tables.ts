import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { settings } from '../src/config/settings.ts';
import { catalog } from '../src/foundation/errors/catalog.ts';
import { eventTypes, type Audience } from '../src/foundation/events/event-types.ts';

/** A document with one table that is written from the code. */
interface Reference {
  readonly document: string;
  /** Where the rows come from. */
  readonly source: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const receivers: Record<Audience, string> = {
  developer: 'the developer',
  application: 'the developer, every session of the application',
  user: 'the developer, every session of the user',
  session: 'the developer, the session',
};

const references: readonly Reference[] = [
  {
    document: 'docs/reference/settings.md',
    source: 'src/config/settings.ts',
    header: ['setting', 'default', 'meaning'],
    rows: Object.entries(settings).map(([name, setting]) => [
      `\`${name}\``,
      setting.default,
      setting.description,
    ]),
  },
  {
    document: 'docs/reference/errors.md',
    source: 'src/foundation/errors/catalog.ts',
    header: ['code', 'status', 'meaning', 'what to do'],
    rows: Object.entries(catalog).map(([code, { statuses, detail, hint }]) => [
      `\`${code}\``,
      statuses.join(', '),
      detail,
      hint,
    ]),
  },
  {
    document: 'docs/reference/events.md',
    source: 'src/foundation/events/event-types.ts',
    header: ['type', 'who receives it'],
    rows: Object.entries(eventTypes).map(([type, audience]) => [`\`${type}\``, receivers[audience]]),
  },
];

/** The document with its table regenerated, formatted as prettier would. */
async function withTable(present: string, { document, source, header, rows }: Reference): Promise<string> {
  const begin = `<!-- table: written by npm run generate from ${source} -->`;
  const end = '<!-- /table -->';
  const [before, rest] = split(document, present, begin);
  const [, after] = split(document, rest, end);
  const lines = [header, header.map(() => '---'), ...rows.map((row) => row.map(cell))];
  const table = lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
  return format(`${before}${begin}\n\n${table}\n\n${end}${after}`, { parser: 'markdown' });
}

/** A text as a cell of a table holds it. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

function split(document: string, text: string, mark: string): [string, string] {
  const place = text.indexOf(mark);
  if (place < 0) throw new Error(`${document} lacks ${mark}`);
  return [text.slice(0, place), text.slice(place + mark.length)];
}

for (const reference of references) {
  const present = readFileSync(reference.document, 'utf8');
  const wanted = await withTable(present, reference);
  if (!process.argv.includes('--check')) {
    writeFileSync(reference.document, wanted);
  } else if (present !== wanted) {
    process.stderr.write(`differs ${reference.document}: run npm run generate\n`);
    process.exitCode = 1;
  }
}
