import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { createKeyring } from '../../../src/platform/keyring.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { MASTER_KEY, type TestService } from '../../support/service.ts';

/** The keys that sign and encrypt tokens: what a thief of the master key and the database would have. */
export interface StolenKeys {
  readonly signingId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly encryptionId: string;
  readonly encryptionKey: KeyObject;
}

export async function stealKeys(service: TestService): Promise<StolenKeys> {
  const keyring = createKeyring([Buffer.from(MASTER_KEY, 'base64')], systemRandom);
  const read = async (purpose: string) => {
    const row = await service.database.knex('data_keys').where({ purpose }).first();
    return { id: row.key_id as string, bytes: keyring.open(row.sealed as Buffer, `data-key:${purpose}`) };
  };
  const signing = await read('token-signing');
  const encryption = await read('token-encryption');
  const privateKey = createPrivateKey({ key: signing.bytes, format: 'der', type: 'pkcs8' });
  return {
    signingId: signing.id,
    privateKey,
    publicKey: createPublicKey(privateKey),
    encryptionId: encryption.id,
    encryptionKey: createSecretKey(encryption.bytes),
  };
}
