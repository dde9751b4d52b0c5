import { expect } from 'vitest';
import { connectTo } from './database.ts';

/**
 * Waits until a service has encrypted the signing keys under the current master key. Before, none starts with this
 * key alone.
 * @param keyId of the current master key
 */
export async function untilSigningKeysResealed(databaseUrl: string, keyId: Buffer): Promise<void> {
  const database = await connectTo(databaseUrl);
  const left = async () =>
    (
      await database.query('select key_id from signing_keys where substring(sealed from 1 for 8) <> $1', [
        keyId,
      ])
    ).rows;
  await expect.poll(left).toEqual([]);
}
