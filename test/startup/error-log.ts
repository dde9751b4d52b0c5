import { pino, type Logger } from 'pino';

/** A logger for errors only, as with `LOG_LEVEL=error`, and its lines so far. */
export function collectErrors(): { readonly logger: Logger; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) });
  return { logger, errors };
}
