import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';
import { ApiError } from '../errors/api-error.ts';

export type ImportFormat = 'text/csv' | 'application/x-ndjson';

/** What an import may say of a user. */
export const COLUMNS = ['username', 'email', 'role', 'password_hash', 'tier', 'days', 'expires_at'] as const;

export type Column = (typeof COLUMNS)[number];

/** A line as it was written: what is left out or empty is missing. */
export interface ImportLine {
  /** Counted from 1; the heading of CSV is one. */
  readonly line: number;
  readonly cells: Partial<Record<Column, string>>;
}

/** A line that cannot be read. */
export interface UnreadableLine {
  readonly line: number;
  readonly fault: string;
}

/** Bytes that are read in one go: some milliseconds. */
const READ_AT_ONCE = 65_536;
/** The longest line has a username, an address and a hash. */
const MAX_LINE_CHARACTERS = 8192;

/**
 * Reads the lines of an import, one after the other. What makes the rest unreadable ends it.
 * @throws ApiError VALIDATION_FAILED when it is not UTF-8
 */
export function readLines(
  upload: AsyncIterable<Uint8Array>,
  format: ImportFormat,
): AsyncGenerator<ImportLine | UnreadableLine> {
  const text = decoded(upload);
  return format === 'text/csv' ? csvLines(text) : jsonLines(text);
}

async function* csvLines(text: AsyncIterable<string>): AsyncGenerator<ImportLine | UnreadableLine> {
  const parser = parse({
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_LINE_CHARACTERS,
  });
  const fed = pipeline(text, parser);
  // It fails the parser, and so the loop.
  fed.catch(() => {});
  let columns: readonly Column[] | undefined;
  try {
    for await (const each of parser) {
      const { record, info } = each as {
        readonly record: string[];
        readonly info: { readonly lines: number };
      };
      if (!columns) {
        const fault = headingFault(record);
        if (fault !== undefined) return yield { line: info.lines, fault };
        columns = record as Column[];
      } else if (record.length === columns.length) {
        yield { line: info.lines, cells: cellsOf(columns.map((column, index) => [column, record[index]!])) };
      } else {
        yield { line: info.lines, fault: `has ${record.length} cells instead of ${columns.length}` };
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines = 1 } = error as { readonly lines?: number };
    yield { line: lines, fault: 'is not CSV by RFC 4180' };
  }
}

function headingFault(heading: readonly string[]): string | undefined {
  const unknown = heading.filter((name) => !COLUMNS.includes(name as Column));
  if (unknown.length > 0) {
    return `must name columns of ${COLUMNS.join(', ')}; not ${unknown.slice(0, 10).join(', ')}`;
  }
  if (new Set(heading).size < heading.length) return 'must name each column once';
  return heading.includes('username') ? undefined : 'must name the column username';
}

async function* jsonLines(text: AsyncIterable<string>): AsyncGenerator<ImportLine | UnreadableLine> {
  let line = 0;
  for await (const written of splitLines(text)) {
    line += 1;
    if (written.length > MAX_LINE_CHARACTERS) return yield { line, fault: 'is too long' };
    if (written.trim() === '') continue;
    const members = parseObject(written);
    if (!members) {
      yield { line, fault: 'must be one flat JSON object in which no member appears twice' };
      continue;
    }
    const unknown = Object.keys(members).filter((name) => !COLUMNS.includes(name as Column));
    const odd = Object.entries(members).filter(([name, value]) => !isCell(name, value));
    if (unknown.length > 0) {
      yield { line, fault: `must have members of ${COLUMNS.join(', ')} alone` };
    } else if (odd.length > 0) {
      yield { line, fault: `must have a text or null for ${odd.map(([name]) => name).join(', ')}` };
    } else {
      const cells = Object.entries(members).map(
        ([name, value]) => [name as Column, String(value ?? '')] as const,
      );
      yield { line, cells: cellsOf(cells) };
    }
  }
}

function isCell(name: string, value: unknown): boolean {
  return value === null || typeof value === 'string' || (name === 'days' && typeof value === 'number');
}

/** In an object of texts and numbers: a name, or the end of none. */
const NAME = /"(?:[^"\\]|\\.)*"\s*:/g;

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const members = value as Readonly<Record<string, unknown>>;
    // A member that is there twice could be read in two ways.
    const names = text.match(NAME)?.length ?? 0;
    return names === Object.keys(members).length ? members : undefined;
  } catch {
    return undefined;
  }
}

function cellsOf(cells: readonly (readonly [Column, string])[]): ImportLine['cells'] {
  return Object.fromEntries(cells.filter(([, cell]) => cell !== ''));
}

async function* splitLines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const part of text) {
    const lines = (rest + part).split('\n');
    rest = lines.pop()!;
    yield* lines;
    // Longer than any line may be: it is handed over as it is, and ends the reading.
    if (rest.length > MAX_LINE_CHARACTERS) return yield rest;
  }
  if (rest !== '') yield rest;
}

/** Text without a byte order mark. */
async function* decoded(upload: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const part of upload) {
      for (let start = 0; start < part.length; start += READ_AT_ONCE) {
        yield decoder.decode(part.subarray(start, start + READ_AT_ONCE), { stream: true });
        // Others get their turn.
        await setImmediate();
      }
    }
    yield decoder.decode();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const fault = { pointer: '', detail: 'must be UTF-8' };
    throw new ApiError('VALIDATION_FAILED', {
      detail: 'The body is not UTF-8.',
      errors: [fault],
      cause,
    });
  }
}
