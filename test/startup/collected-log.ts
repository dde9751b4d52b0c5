import { pino, type Logger } from 'pino';
import type { LogLevel } from '../../src/platform/logger.ts';

/** A logger, as with a `LOG_LEVEL`, and its lines so far. */
export function collectLog(level: LogLevel = 'error'): {
  readonly logger: Logger;
  readonly lines: readonly string[];
} {
  const lines: string[] = [];
  const logger = pino({ level }, { write: (line: string) => void lines.push(line) });
  return { logger, lines };
}
