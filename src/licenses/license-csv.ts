import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import type { License } from './license.ts';

const LONGEST_RECORD = 16_384;
const PART = 500;

const CREATED_COLUMNS = {
  licenseKey: 'license_key',
  tier: 'tier',
  durationDays: 'duration_days',
  note: 'note',
  redeemBy: 'redeem_by',
  licenseId: 'license_id',
} as const;

const COLUMNS = {
  ...CREATED_COLUMNS,
  status: 'status',
  redeemedAt: 'redeemed_at',
  redeemedBy: 'redeemed_by',
  resellerId: 'reseller_id',
  banReason: 'ban_reason',
  createdAt: 'created_at',
} as const;

/** What a spreadsheet takes for a formula, and the apostrophes with which somebody has kept it from that. */
const FORMULA = /^'*[=+\-@\t\r]/;

/** A line of a table, by the names of its header line. */
export interface CsvLine {
  /** Its number, the header line being the first. */
  readonly line: number;
  /** By the names of the header line; undefined when it has more or fewer cells. */
  readonly cells: Readonly<Record<string, string>> | undefined;
}

/** A table that cannot be read any further. */
export class CsvFault extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** New licences as a table, a part of its text at a time. */
export function createdLicensesCsv(made: readonly License[]): AsyncGenerator<string> {
  return table(inParts(made), CREATED_COLUMNS);
}

/** Licences with all that is known of them as a table, a part of its text at a time. */
export function licensesCsv(parts: AsyncIterable<readonly License[]>): AsyncGenerator<string> {
  return table(parts, COLUMNS);
}

type Parts = AsyncIterable<readonly License[]> | Iterable<readonly License[]>;

function* inParts(licenses: readonly License[]): Generator<readonly License[]> {
  for (let start = 0; start < licenses.length; start += PART) yield licenses.slice(start, start + PART);
}

async function* table(parts: Parts, columns: Readonly<Record<string, string>>): AsyncGenerator<string> {
  yield `${Object.values(columns).join(',')}\n`;
  for await (const part of parts) {
    yield stringify(part as License[], {
      columns: Object.keys(columns),
      cast: { string: withoutFormula, date: (moment) => moment.toISOString() },
      quoted_match: /[\r\n]/,
    });
  }
}

/**
 * A cell that no spreadsheet takes for a formula: an apostrophe stands in front of what would be one.
 * `withFormula` gives the text back.
 */
function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function withFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/**
 * Reads a table (RFC 4180) with a header line. Empty lines are left out.
 * @param bytes UTF-8, with or without a byte order mark
 * @param checkHeader refuses the names of the header line
 * @throws CsvFault for what is no table, and what checkHeader throws
 */
export async function* readCsv(
  bytes: readonly Uint8Array[],
  checkHeader: (names: readonly string[]) => void,
): AsyncGenerator<CsvLine> {
  const parser = Readable.from(bytes).pipe(
    parse({
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: LONGEST_RECORD,
    }),
  );
  let names: readonly string[] | undefined;
  try {
    for await (const { record, info } of parser as AsyncIterable<ParsedRecord>) {
      if (!names) {
        names = record.map((name) => name.trim());
        checkHeader(names);
        continue;
      }
      const cells =
        record.length === names.length
          ? Object.fromEntries(names.map((name, index) => [name, withFormula(record[index]!)]))
          : undefined;
      yield { line: info.lines, cells };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as { readonly lines?: number };
    throw new CsvFault(lines ?? 1, 'is not a line of a table in CSV: see its quotes and its length');
  }
}

interface ParsedRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}
