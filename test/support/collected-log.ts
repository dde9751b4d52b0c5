import { createLogger, type Logger, type LogLevel } from '../../src/platform/logger.ts';

/** One line of the log. */
export interface LogEntry {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export const INFO = 30;
export const ERROR = 50;

/** A logger, as with a `LOG_LEVEL`, and its lines so far. */
export function collectLog(level: LogLevel = 'error'): {
  readonly logger: Logger;
  readonly lines: string[];
} {
  const lines: string[] = [];
  return { logger: createLogger(level, { write: (line) => void lines.push(line) }), lines };
}

/** A logger for level `info` and above, and its entries so far. */
export function captureLog(): { readonly logger: Logger; readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const write = (line: string) => void entries.push(JSON.parse(line) as LogEntry);
  return { logger: createLogger('info', { write }), entries };
}
