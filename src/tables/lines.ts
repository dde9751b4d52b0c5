import { ApiError, MOST_FAULTS, type Fault } from '../errors/api-error.ts';

/** The longest line of text that is read, in characters. */
export const LONGEST_LINE = 16_384;

/** The most blank lines that are read: enough for one before each line of the largest table. */
export const MOST_BLANK_LINES = 100_000;

/** What is wrong with a table that has more of them. */
export const TOO_MANY_BLANK_LINES = `is beyond the ${MOST_BLANK_LINES} blank lines that a table may have`;

/** A line of a table as it was written, by the names of its columns. */
export interface Line<Column extends string> {
  /** Counted from 1; the heading of CSV is one. */
  readonly line: number;
  /** What is left out or empty is missing. */
  readonly cells: Partial<Record<Column, string>>;
}

/** A line that cannot be read. */
export interface UnreadableLine {
  readonly line: number;
  readonly fault: string;
}

/** What is wrong with the lines of an import: the lines are counted, the first faults kept. */
export class LineFaults {
  readonly #lines = new Set<number>();
  readonly #shown: Fault[] = [];
  #cutShort = false;

  /** How many lines are faulty. */
  get lines(): number {
    return this.#lines.size;
  }

  add(line: number, detail: string): void {
    this.#lines.add(line);
    if (this.#shown.length < MOST_FAULTS) this.#shown.push({ pointer: `/line/${line}`, detail });
  }

  /** For whoever stops to look when no more faults would be shown. @returns whether it is so */
  cutShort(): boolean {
    this.#cutShort ||= this.#shown.length === MOST_FAULTS;
    return this.#cutShort;
  }

  /** @throws ApiError when there are any */
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
