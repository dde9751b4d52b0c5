import { pino, type Logger } from 'pino';

/** One line of the log. */
export interface LogEntry {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export const INFO = 30;
export const ERROR = 50;

/** A logger and its entries so far. */
export function captureLog(): { readonly logger: Logger; readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const logger = pino(
    { level: 'info', base: null },
    { write: (line: string) => void entries.push(JSON.parse(line) as LogEntry) },
  );
  return { logger, entries };
}
