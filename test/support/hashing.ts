import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { temporaryFolder } from './processes.ts';

/** So many passwords are hashed or wait in one process: 17 for each core but one, of 5 cores at most. */
export const HASHES_AT_ONCE = 17 * Math.min(4, Math.max(1, availableParallelism() - 1));

/** More than this process has threads. */
const READERS = 64;

/**
 * Keeps every password hash of this process waiting: the threads that make them open a pipe that has no writer.
 * @returns lets them continue, as the end of the test does at the latest
 */
export async function holdHashes(): Promise<() => Promise<void>> {
  const pipe = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const readers = Array.from({ length: READERS }, () => open(pipe));
  let gone: Promise<void> | undefined;
  const letGo = () =>
    (gone ??= (async () => {
      const writer = openSync(pipe, 'r+');
      for (const reader of await Promise.all(readers)) await reader.close();
      closeSync(writer);
    })());
  onTestFinished(letGo);
  return letGo;
}

/**
 * Sends more passwords than may wait, while none is hashed: the surplus is refused immediately, the others get their
 * responses afterwards.
 * @returns the responses that came while no password was hashed, and those that came afterwards
 */
export async function flood<Reply>(
  surplus: number,
  send: () => Promise<Reply>,
): Promise<{ atOnce: Reply[]; later: Reply[] }> {
  const letGo = await holdHashes();
  const responses: Reply[] = [];
  const calls = Array.from({ length: HASHES_AT_ONCE + surplus }, async () => responses.push(await send()));
  // A wrongly refused one would return earlier, a wrongly waiting one never.
  await expect.poll(() => responses.length).toBe(surplus);
  await letGo();
  await Promise.all(calls);
  return { atOnce: responses.slice(0, surplus), later: responses.slice(surplus) };
}
