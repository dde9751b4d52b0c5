import { createCipheriv, createDecipheriv, createHash, createSecretKey } from 'node:crypto';
import type { Random } from './random.ts';

const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A value was sealed under a master key that this process does not have. */
export class UnknownMasterKeyError extends Error {}

/** Encrypts data at rest with the master keys of the configuration. */
export interface Keyring {
  /** The id of the current master key: the first bytes of every value that it sealed. */
  readonly keyId: Buffer;
  /** Whether there are older keys in addition to the current one. */
  readonly rotating: boolean;
  /**
   * Encrypts with AES-256-GCM under the current master key.
   * @param plaintext the value to encrypt
   * @param context the kind of value and its owner; opening requires the same context
   * @returns key id, nonce, tag and ciphertext, concatenated
   */
  seal(plaintext: Uint8Array, context: string): Buffer;
  /**
   * Decrypts a value that `seal` returned.
   * @throws UnknownMasterKeyError if none of the master keys sealed it
   * @throws Error if it was altered or belongs to another context
   */
  open(sealed: Uint8Array, context: string): Buffer;
}

/**
 * @param masterKeys keys of 32 bytes: the first one seals, every one opens, so that a key can be rotated
 * @param random source of nonces
 */
export function createKeyring(masterKeys: readonly Buffer[], random: Random): Keyring {
  const [current] = masterKeys;
  if (!current || masterKeys.some((key) => key.length !== KEY_BYTES)) {
    throw new Error(`a keyring needs master keys of ${KEY_BYTES} bytes`);
  }
  const currentId = keyId(current);
  // Node would set up a key passed as bytes for each value, which costs more than the encryption itself.
  const byId = new Map(masterKeys.map((key) => [keyId(key).toString('hex'), createSecretKey(key)]));
  const currentKey = byId.get(currentId.toString('hex'))!;

  return {
    keyId: currentId,
    rotating: masterKeys.length > 1,
    seal(plaintext, context) {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', currentKey, nonce).setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return Buffer.concat([currentId, nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      const key = byId.get(bytes.subarray(0, KEY_ID_BYTES).toString('hex'));
      if (!key) throw new UnknownMasterKeyError('sealed under an unknown master key');
      const nonceEnd = KEY_ID_BYTES + NONCE_BYTES;
      const tagEnd = nonceEnd + TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(KEY_ID_BYTES, nonceEnd), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(nonceEnd, tagEnd));
      return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]);
    },
  };
}

function keyId(key: Buffer): Buffer {
  return createHash('sha256').update('latchkey master key id').update(key).digest().subarray(0, KEY_ID_BYTES);
}
