import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import type { Knex } from 'knex';
import type { Clock } from '../../platform/clock.ts';
import { UnknownMasterKeyError, type Keyring } from '../../platform/keyring.ts';
import type { Random } from '../../platform/random.ts';
import { StartupError } from '../../platform/startup-error.ts';
import { findOrInsertKeys, createKeyResealer, type KeyRow } from './key-store.ts';

export { hasKeys } from './key-store.ts';

/** A key with the id by which tokens refer to it. */
export interface IdentifiedKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys of this installation. They are stored in the database, so that every node has the same ones. */
export interface Keys {
  /** Ed25519: signs tokens. */
  readonly tokenSigning: IdentifiedKey & { readonly publicKey: KeyObject };
  /** 256 bits: encrypts tokens. */
  readonly tokenEncryption: IdentifiedKey;
  /** HMAC-SHA-256 of a hardware identifier, bound to one application. */
  hwidDigest(appId: string, hwid: string): Buffer;
  /** 256 bits: the embedded test processor signs its webhook events with it. Its id names the account. */
  readonly testPayments: { readonly id: string; readonly bytes: Buffer };
  /** HMAC-SHA-256 of a license key in canonical form. */
  licenseDigest(licenseKey: string): Buffer;
  /** HMAC-SHA-256 of a payment challenge, which identifies challenges of this installation. */
  challengeDigest(challenge: string): Buffer;
  /** HMAC-SHA-256 of the code that completes a claim of an agent, bound to that claim. */
  claimCodeDigest(claim: Uint8Array, code: string): Buffer;
}

interface Dependencies {
  readonly knex: Knex;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Loads the keys of the installation, and creates those that do not exist yet.
 * @throws StartupError when the database was written with another master key
 */
export async function loadKeys({ knex, keyring, clock, random }: Dependencies): Promise<Keys> {
  const symmetric = () => random.bytes(32);
  const generators = {
    'hwid-hmac': symmetric,
    'license-hmac': symmetric,
    'challenge-hmac': symmetric,
    'claim-code-hmac': symmetric,
    'token-encryption': symmetric,
    'test-payments': symmetric,
    'token-signing': () => generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }),
  };
  const newRow = (purpose: string, generate: () => Buffer) => ({
    purpose,
    key_id: random.bytes(8).toString('base64url'),
    sealed: keyring.seal(generate(), sealContext(purpose)),
    created_at: clock.now(),
  });
  const rows = await findOrInsertKeys(
    knex,
    new Map(
      Object.entries(generators).map(([purpose, generate]) => [purpose, () => newRow(purpose, generate)]),
    ),
    bytesOf,
  );

  function open(purpose: keyof typeof generators): { readonly id: string; readonly bytes: Buffer } {
    const row = rows.get(purpose)!;
    return { id: row.key_id, bytes: bytesOf(row) };
  }

  function bytesOf({ purpose, sealed }: KeyRow): Buffer {
    try {
      return keyring.open(sealed, sealContext(purpose));
    } catch (error) {
      if (!(error instanceof UnknownMasterKeyError)) throw error;
      throw new StartupError(
        'MASTER_KEY, or master.key in DATA_DIR, is not the key that this database was written with',
      );
    }
  }

  const [signing, encryption] = [open('token-signing'), open('token-encryption')];
  const testPayments = open('test-payments');
  const hwidKey = createSecretKey(open('hwid-hmac').bytes);
  const licenseKey = createSecretKey(open('license-hmac').bytes);
  const challengeKey = createSecretKey(open('challenge-hmac').bytes);
  const claimCodeKey = createSecretKey(open('claim-code-hmac').bytes);
  await createKeyResealer(knex, keyring, sealContext)();
  const signingKey = createPrivateKey({ key: signing.bytes, format: 'der', type: 'pkcs8' });

  return {
    tokenSigning: { id: signing.id, key: signingKey, publicKey: createPublicKey(signingKey) },
    tokenEncryption: { id: encryption.id, key: createSecretKey(encryption.bytes) },
    testPayments,
    hwidDigest: (appId, value) => createHmac('sha256', hwidKey).update(`${appId}\0`).update(value).digest(),
    licenseDigest: (value) => createHmac('sha256', licenseKey).update(value).digest(),
    challengeDigest: (value) => createHmac('sha256', challengeKey).update(value).digest(),
    claimCodeDigest: (claim, code) => createHmac('sha256', claimCodeKey).update(claim).update(code).digest(),
  };
}

function sealContext(purpose: string): string {
  return `data-key:${purpose}`;
}
