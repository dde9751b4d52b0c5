import { copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';

const LARGEST_LOG_BYTES = 10 * 1024 * 1024;

/** The server's own log, of at most 10 MB, and one older copy of it beside it (`.1`). */
export interface ServerLog {
  readonly path: string;
  /** Opens it for appending, for the server's stderr; the caller closes the descriptor. */
  open(): number;
  /** Moves the content to the older copy when there is too much; safe while a server writes. */
  bound(): void;
  /** How long it is now, in bytes. */
  size(): number;
  /** The most telling line written since it was `since` bytes long: the last error, else the last line. */
  reason(since: number): string;
}

/** @param path where the log is kept */
export function serverLog(path: string): ServerLog {
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    path,
    size,
    open: () => openSync(path, 'a', 0o600),
    bound: () => {
      if (size() <= LARGEST_LOG_BYTES) return;
      try {
        copyFileSync(path, `${path}.1`);
      } catch {
        // Without room for a copy, the room that the log takes matters more than what it says.
      }
      truncateSync(path, 0);
    },
    reason: (since) => tellingLine(readFileSync(path).subarray(since).toString('utf8')),
  };
}

/** The last line that tells of an error, else the last line at all; without its time and process id. */
export function tellingLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const line = lines.findLast((each) => /\b(FATAL|PANIC|error):/.test(each)) ?? lines.at(-1);
  return line?.replace(/^[\d-]+ [\d:.]+ \w+ \[\d+\] /, '').trim() ?? 'it left no message';
}
