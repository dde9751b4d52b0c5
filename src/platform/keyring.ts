import { createCipheriv, createDecipheriv, createHash, createSecretKey } from 'node:crypto';
import type { Random } from './random.ts';

const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A value was sealed under a master key that this process does not have. */
export class UnknownMasterKeyError extends Error {}

/** Encrypts what is kept at rest under the master keys of the configuration. */
export interface Keyring {
  /** Names the current master key: the first bytes of whatever it sealed. */
  readonly keyId: Buffer;
  /** Whether there are older keys beside the current one. */
  readonly rotating: boolean;
  /**
   * Encrypts with AES-256-GCM under the current master key.
   * @param plaintext what to keep
   * @param context what the value is and whose; the same is needed to open it
   * @returns key id, nonce, tag and ciphertext in one
   */
  seal(plaintext: Uint8Array, context: string): Buffer;
  /**
   * Decrypts what `seal` made.
   * @throws UnknownMasterKeyError when none of the master keys made it
   * @throws Error when it was altered or belongs to another context
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
  // A key that is handed over as bytes is set up anew for each value, which costs more than the value.
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
