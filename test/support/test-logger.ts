import { collectLog } from './collected-log.ts';

const { logger, lines } = collectLog('warn');

/** Keeps warnings of services in this process until the end of the test, which prints them if it failed. */
export const testLogger = logger;

/** Takes the lines since the last call. */
export function takeLog(): readonly string[] {
  return lines.splice(0);
}
