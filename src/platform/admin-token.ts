import type { Random } from './random.ts';
import { secretFile } from './secret-file.ts';

const TOKEN_BYTES = 32;

/**
 * The administrator's token of an installation without ADMIN_TOKEN: generated once and kept in `admin.token`, which
 * only its owner can read.
 * @param dataDir the data folder; created if it does not exist
 * @throws StartupError when the file can be neither read nor written
 */
export async function loadOrCreateAdminToken(dataDir: string, random: Random): Promise<string> {
  const file = secretFile(dataDir, 'admin.token', random);
  const token = (await file.read()) ?? (await file.create(random.bytes(TOKEN_BYTES).toString('hex')));
  return token.trim();
}
