import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { temporaryFolder } from './processes.ts';

/** The capacity for passwords, hashing and queued, of one process: 17 for each core but one, of 5 cores at most. */
export const HASHES_AT_ONCE = 17 * Math.min(4, Math.max(1, availableParallelism() - 1));

/** More than the number of threads in this process. */
const READERS = 64;

/**
 * Blocks every password hash of this process: the threads that compute them open a pipe without a writer.
 * @returns unblocks them, at the latest at the end of the test
 */
export async function holdHashes(): Promise<() => Promise<void>> {
  const pipe = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const readers = Array.from({ length: READERS }, () => open(pipe));
  let released: Promise<void> | undefined;
  const release = () =>
    (released ??= (async () => {
      const writer = openSync(pipe, 'r+');
      for (const reader of await Promise.all(readers)) await reader.close();
      closeSync(writer);
    })());
  onTestFinished(release);
  return release;
}

/**
 * Sends more passwords than the capacity while none is hashed: the surplus is refused immediately, the others get their
 * responses later.
 * @returns the responses while no password was hashed, and the later ones
 */
export async function flood<Reply>(
  surplus: number,
  send: () => Promise<Reply>,
): Promise<{ atOnce: Reply[]; later: Reply[] }> {
  const release = await holdHashes();
  const responses: Reply[] = [];
  const calls = Array.from({ length: HASHES_AT_ONCE + surplus }, async () => responses.push(await send()));
  // A wrong refusal would return earlier, and a wrongly queued request never.
  await expect.poll(() => responses.length).toBe(surplus);
  await release();
  await Promise.all(calls);
  return { atOnce: responses.slice(0, surplus), later: responses.slice(surplus) };
}
