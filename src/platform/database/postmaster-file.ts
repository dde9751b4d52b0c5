import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The content of the file `postmaster.pid` of a running server. */
export interface PostmasterFile {
  path: string;
  pid: number;
  ready: boolean;
  lines: string[];
}

/** Reads the file of the server in that folder; undefined if the file does not exist. */
export function readPostmasterFile(databaseDir: string): PostmasterFile | undefined {
  const path = join(databaseDir, 'postmaster.pid');
  let lines: string[];
  try {
    lines = readFileSync(path, 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0
    ? { path, pid, ready: lines[7]?.trim() === 'ready', lines }
    : undefined;
}
