import { ApiError, MOST_FAULTS, type Fault } from '../errors/api-error.ts';

/** The longest line that is read, in characters. */
export const LONGEST_LINE = 16_384;

/** The most blank lines that are read: enough for one before each line of the largest table. */
export const MOST_BLANK_LINES = 100_000;

/** The fault of a table with more of them. */
export const TOO_MANY_BLANK_LINES = `exceeds the limit of ${MOST_BLANK_LINES} blank lines`;

/** A line of a table, with its cells by column name. */
export interface Line<Column extends string> {
  /** Counted from 1; the header line of CSV counts too. */
  readonly line: number;
  /** Without missing and empty cells. */
  readonly cells: Partial<Record<Column, string>>;
}

/** A line that cannot be read. */
export interface UnreadableLine {
  readonly line: number;
  readonly fault: string;
}

/** The faults of an import: all faulty lines are counted, and the first faults are listed. */
export class LineFaults {
  readonly #lines = new Set<number>();
  readonly #shown: Fault[] = [];
  #cutShort = false;

  /** The number of faulty lines. */
  get lines(): number {
    return this.#lines.size;
  }

  add(line: number, detail: string): void {
    this.#lines.add(line);
    if (this.#shown.length < MOST_FAULTS) this.#shown.push({ pointer: `/line/${line}`, detail });
  }

  /** Lets a caller stop checking when no more faults would be listed. @returns whether to stop */
  cutShort(): boolean {
    this.#cutShort ||= this.#shown.length === MOST_FAULTS;
    return this.#cutShort;
  }

  /** @throws ApiError if there are any faults */
  throwAny(code: 'VALIDATION_FAILED' | 'USERNAME_TAKEN' = 'VALIDATION_FAILED'): void {
    if (this.lines === 0) return;
    const count = `${this.lines} ${this.lines === 1 ? 'line is' : 'lines are'} not valid`;
    const detail = `${count}${this.#cutShort ? ', and there may be more' : ''}; nothing was imported.`;
    const errors = this.#shown.toSorted((a, b) => lineOf(a) - lineOf(b));
    if (code === 'USERNAME_TAKEN') throw new ApiError('USERNAME_TAKEN', { detail, errors });
    throw new ApiError('VALIDATION_FAILED', { detail, errors });
  }
}

function lineOf({ pointer }: Fault): number {
  return Number(pointer.slice('/line/'.length));
}
