import { CsvError, parse, type Parser } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { createPace } from '../platform/pace.ts';
import {
  LONGEST_LINE,
  MOST_BLANK_LINES,
  TOO_MANY_BLANK_LINES,
  type Line,
  type UnreadableLine,
} from './lines.ts';

/** What a spreadsheet takes for a formula, and the apostrophes with which somebody has kept it from that. */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** Names that are shown of those that nobody knows. */
const SHOWN_NAMES = 10;
const SHOWN_CHARACTERS = 64;

type Parts<Row> = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

/**
 * Rows as a table with a heading (RFC 4180), a part of its text for each part of them. A cell that a spreadsheet would take
 * for a formula gets an apostrophe in front, which readCsv takes away.
 * @param columns the names of the heading, by the members of a row
 */
export async function* csvOf<Row extends object>(
  parts: Parts<Row>,
  columns: Readonly<Partial<Record<keyof Row & string, string>>>,
): AsyncGenerator<string> {
  // It comes with the first rows: until they are read, an error can still be answered as one.
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
 * Reads a table with a heading (RFC 4180), one line after the other. Empty lines are left out; too many of them and what
 * makes the rest unreadable end it.
 * @param columns those that it may have, and whether it must
 * @throws what the text throws
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
    return yield { line: lines, fault: 'is not a line of CSV by RFC 4180: see its quotes and its length' };
  }
  if (parser.info.empty_lines > MOST_BLANK_LINES) {
    yield { line: parser.info.lines, fault: TOO_MANY_BLANK_LINES };
  }
}

/**
 * The records of a text. Each part is parsed when those of the part before have been taken: as a stream, the parser would
 * read on meanwhile, and hold up everybody else for all of it.
 * @param read where the parser puts them
 * @throws CsvError, and what the text throws
 */
async function* recordsOf(
  text: AsyncIterable<string> | Iterable<string>,
  parser: Parser,
  read: ParsedRecord[],
): AsyncGenerator<ParsedRecord> {
  const pace = createPace();
  let failure: unknown;
  parser.on('error', (error) => (failure = error));
  for await (const part of text) {
    await new Promise<unknown>((resolve) => parser.write(part, resolve));
    if (failure !== undefined) throw failure;
    for (const record of read.splice(0)) {
      yield record;
      await pace();
    }
    // The parser leaves blank lines out without a word.
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
    return `must name columns of ${Object.keys(columns).join(', ')}; not ${shown.join(', ')}`;
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
