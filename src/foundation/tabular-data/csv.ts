import { CsvError, parse, type Parser } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { createCooperativeYield } from '../../platform/cooperative-yield.ts';
import {
  LONGEST_LINE,
  MOST_BLANK_LINES,
  TOO_MANY_BLANK_LINES,
  type Line,
  type UnreadableLine,
} from './lines.ts';

/** What a spreadsheet would evaluate as a formula, with any apostrophes that prevent it. */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * As it is written, the longest line may consist of quotes, each of which is escaped by another one. The rest is for
 * delimiters, and for the part of the text in which the line ends.
 */
const LONGEST_WRITTEN = 2 * LONGEST_LINE + 1_024;

/** How many unknown column names an error lists, and how much of each. */
const SHOWN_NAMES = 10;
const SHOWN_CHARACTERS = 64;

type Parts<Row> = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

/**
 * Converts rows to CSV with a header line (RFC 4180), one part of the text for each part of the rows. Cells
 * that a spreadsheet would evaluate as formulas get an apostrophe in front, which `readCsv` removes.
 * @param columns the column names by the members of a row
 */
export async function* csvOf<Row extends object>(
  parts: Parts<Row>,
  columns: Readonly<Partial<Record<keyof Row & string, string>>>,
): AsyncGenerator<string> {
  // Sent together with the first rows: until then, an error can still become an error response.
  let heading = `${Object.values(columns).join(',')}\n`;
  for await (const part of parts) {
    const lines = stringify([...part], {
      columns: Object.keys(columns),
      cast: { string: withoutFormula, date: (moment) => moment.toISOString(), boolean: String },
      quoted_match: /[\r\n]/,
    });
    yield heading + lines;
    heading = '';
  }
  if (heading !== '') yield heading;
}

function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function withFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/**
 * Reads CSV with a header line (RFC 4180), line by line. Empty lines are skipped. Reading stops at too many
 * of them, and at a fault that makes the rest unreadable.
 * @param columns the allowed columns, and whether each is required
 * @throws errors of the text itself
 */
export async function* readCsv<Column extends string>(
  text: AsyncIterable<string> | Iterable<string>,
  columns: Readonly<Record<Column, boolean>>,
): AsyncGenerator<Line<Column> | UnreadableLine> {
  const read: ParsedRecord[] = [];
  const parser = parse({
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_LINE,
    on_record: (record: readonly string[], { lines }) => {
      read.push({ record, line: lines });
      return null;
    },
  });
  let names: readonly string[] | undefined;
  try {
    for await (const { record, line } of recordsOf(text, parser, read)) {
      if (!names) {
        names = record.map((name) => name.trim());
        const fault = headingFault(names, columns);
        if (fault !== undefined) return yield { line, fault };
      } else if (record.length === names.length) {
        const cells = names.map((name, index) => [name, withFormula(record[index]!)] as const);
        yield { line, cells: cellsOf<Column>(cells) };
      } else {
        yield { line, fault: `has ${record.length} cells instead of ${names.length}` };
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines = 1 } = error as { readonly lines?: number };
    return yield {
      line: lines,
      fault: 'is not a valid CSV line (RFC 4180): check its quotes and its length',
    };
  }
  if (parser.info.empty_lines > MOST_BLANK_LINES) {
    yield { line: parser.info.lines, fault: TOO_MANY_BLANK_LINES };
  }
}

/**
 * Parses the records of a text. A part is parsed when the records of the previous part have been consumed: as
 * a stream, the parser would read ahead and block other requests.
 * @param read where the parser puts the records
 * @throws CsvError, and errors of the text itself
 */
async function* recordsOf(
  text: AsyncIterable<string> | Iterable<string>,
  parser: Parser,
  read: ParsedRecord[],
): AsyncGenerator<ParsedRecord> {
  const yieldIfDue = createCooperativeYield();
  let failure: unknown;
  let blank = 0;
  let unfinished = 0;
  parser.on('error', (error) => (failure = error));
  for await (const part of text) {
    await new Promise<unknown>((resolve) => parser.write(part, resolve));
    if (failure !== undefined) throw failure;
    const { empty_lines, lines } = parser.info;
    unfinished = read.length > 0 || empty_lines > blank ? 0 : unfinished + part.length;
    blank = empty_lines;
    // The parser's own limit does not count the delimiters, so it would collect a record of nothing else.
    if (unfinished > LONGEST_WRITTEN) {
      throw new CsvError('CSV_MAX_RECORD_SIZE', 'The record is too long', parser.options, { lines });
    }
    for (const record of read.splice(0)) {
      yield record;
      await yieldIfDue();
    }
    // The parser skips blank lines silently.
    if (parser.info.empty_lines > MOST_BLANK_LINES) return;
  }
  await new Promise<unknown>((resolve) => parser.end(resolve));
  if (failure !== undefined) throw failure;
  yield* read;
}

interface ParsedRecord {
  readonly record: readonly string[];
  readonly line: number;
}

function headingFault(
  names: readonly string[],
  columns: Readonly<Record<string, boolean>>,
): string | undefined {
  const unknown = names.filter((name) => !Object.hasOwn(columns, name));
  if (unknown.length > 0) {
    const shown = unknown.slice(0, SHOWN_NAMES).map((name) => name.slice(0, SHOWN_CHARACTERS));
    return `must only name the columns ${Object.keys(columns).join(', ')}; unknown: ${shown.join(', ')}`;
  }
  if (new Set(names).size < names.length) return 'must name each column once';
  const missing = Object.keys(columns).filter((name) => columns[name] && !names.includes(name));
  return missing.length > 0 ? `must name the columns ${missing.join(', ')}` : undefined;
}

function cellsOf<Column extends string>(
  cells: readonly (readonly [string, string])[],
): Line<Column>['cells'] {
  return Object.fromEntries(cells.filter(([, cell]) => cell !== '')) as Line<Column>['cells'];
}
