import { copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';

const LARGEST_LOG_BYTES = 10 * 1024 * 1024;

/** The log file of the server, at most 10 MB, with one older copy next to it (`.1`). */
export interface ServerLog {
  readonly path: string;
  /** Opens it for appending, for the server's stderr; the caller closes the descriptor. */
  open(): number;
  /** Moves the content to the older copy if it is too large; safe while a server writes. */
  bound(): void;
  /** The current size, in bytes. */
  size(): number;
  /** The most informative line since it was `since` bytes long: the last error, otherwise the last line. */
  reason(since: number): string;
}

/** @param path the log file */
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
        // If the disk has no space for a copy, freeing space matters more than keeping the log.
      }
      truncateSync(path, 0);
    },
    reason: (since) => mostInformativeLine(readFileSync(path).subarray(since).toString('utf8')),
  };
}

/** The last line with an error, otherwise the last line, without its time and process id. */
export function mostInformativeLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const line = lines.findLast((each) => /\b(FATAL|PANIC|error):/.test(each)) ?? lines.at(-1);
  return line?.replace(/^[\d-]+ [\d:.]+ \w+ \[\d+\] /, '').trim() ?? 'it logged no message';
}
