import { createLogger, type Logger, type LogLevel } from '../../src/platform/logger.ts';

/** A logger, as with a `LOG_LEVEL`, and its lines so far. */
export function collectLog(level: LogLevel = 'error'): {
  readonly logger: Logger;
  readonly lines: string[];
} {
  const lines: string[] = [];
  return { logger: createLogger(level, { write: (line) => void lines.push(line) }), lines };
}
