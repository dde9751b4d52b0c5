import { createCooperativeYield } from '../../platform/cooperative-yield.ts';
import { parseStrictText } from '../../platform/strict-json.ts';
import {
  LONGEST_LINE,
  MOST_BLANK_LINES,
  TOO_MANY_BLANK_LINES,
  type Line,
  type UnreadableLine,
} from './lines.ts';

/** Converts objects to lines of JSON, one part of the text for each part of the objects. */
export async function* jsonLinesOf(parts: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  for await (const part of parts) yield part.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/**
 * Reads flat JSON objects, one per line. Blank lines are skipped. Reading stops at too many of them, and at a
 * line that is too long.
 * @param columns the members that an object may have
 * @param scalars the members that may be numbers or booleans instead of text
 * @throws errors of the text itself
 */
export async function* readJsonLines<Column extends string>(
  text: AsyncIterable<string>,
  columns: Readonly<Record<Column, boolean>>,
  scalars: readonly Column[],
): AsyncGenerator<Line<Column> | UnreadableLine> {
  let line = 0;
  let blank = 0;
  const yieldIfDue = createCooperativeYield();
  for await (const lines of splitLines(text)) {
    for (const written of lines) {
      line += 1;
      await yieldIfDue();
      if (written.length > LONGEST_LINE) return yield { line, fault: 'is too long' };
      if (written.trim() !== '') yield { line, ...readObject(written, columns, scalars) };
      else if ((blank += 1) > MOST_BLANK_LINES) return yield { line, fault: TOO_MANY_BLANK_LINES };
    }
  }
}

function readObject<Column extends string>(
  written: string,
  columns: Readonly<Record<Column, boolean>>,
  scalars: readonly string[],
): Pick<Line<Column>, 'cells'> | Pick<UnreadableLine, 'fault'> {
  const members = parseObject(written);
  if (!members) return { fault: 'must be one flat JSON object in which no member appears twice' };
  if (Object.keys(members).some((name) => !Object.hasOwn(columns, name))) {
    return { fault: `must only have the members ${Object.keys(columns).join(', ')}` };
  }
  const isCell = (name: string, value: unknown) =>
    value === null ||
    typeof value === 'string' ||
    (scalars.includes(name) && (typeof value === 'number' || typeof value === 'boolean'));
  const odd = Object.keys(members).filter((name) => !isCell(name, members[name]));
  if (odd.length > 0) return { fault: `must have text or null for ${odd.join(', ')}` };
  const cells = Object.entries(members).map(([name, value]) => [name, String(value ?? '')] as const);
  return { cells: Object.fromEntries(cells.filter(([, cell]) => cell !== '')) as Line<Column>['cells'] };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseStrictText(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/** Splits a text into lines, and yields the lines that each part completes. */
async function* splitLines(text: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const part of text) {
    const lines = (rest + part).split('\n');
    rest = lines.pop()!;
    yield lines;
    // Longer than any line may be: it is passed as it is, and reading stops.
    if (rest.length > LONGEST_LINE) return yield [rest];
  }
  if (rest !== '') yield [rest];
}
