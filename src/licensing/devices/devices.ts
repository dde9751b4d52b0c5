import { LRUCache } from 'lru-cache';
import type { KeyObject } from 'node:crypto';
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { createBatchedLookup } from '../../platform/database/batched-lookup.ts';
import type { Bans } from '../bans/bans.ts';
import { isSignedBy, readDeviceKey, toKeyObject } from './device-keys.ts';
import * as store from './device-store.ts';

/** A registered device. */
export interface Device {
  readonly deviceId: string;
  /** The machine that it is registered for; null before. */
  readonly hwidDigest: Buffer | null;
  /** Whether it has signed a text. @param signature 64 bytes */
  hasSigned(text: string, signature: Buffer): boolean;
}

/** Devices of the users of applications, recognized by their keys. */
export interface Devices {
  /**
   * Registers a device, or changes its machine.
   * @param trust of the request, which the device has signed
   * @returns its identifier
   * @throws ApiError APPLICATION_NOT_FOUND, APPLICATION_INACTIVE, CLIENT_TRUST_REQUIRED, VPN_BLOCKED, HWID_BANNED,
   *   ADDRESS_BANNED, VALIDATION_FAILED for a key that is not usable
   */
  register(
    device: { readonly appId: string; readonly hwid: string; readonly alg: string; readonly jwk: object },
    trust: ClientTrust | undefined,
    client: Client,
  ): Promise<string>;
  /** A registered device as it is now; undefined if it does not exist. */
  find(appId: string, deviceId: string): Promise<Device | undefined>;
  /** The device of a key that is not registered yet; undefined unless it is a usable public key. */
  ofKey(alg: unknown, jwk: unknown): Device | undefined;
  /**
   * Refuses a request about another machine than that of its device.
   * @throws ApiError DEVICE_MISMATCH
   */
  assertMachine(appId: string, hwid: string, trust: ClientTrust | undefined): void;
  /** Records a login on a device, inside the caller's transaction. @throws ApiError DEVICE_SIGNATURE_INVALID */
  recordLogin(trx: Knex.Transaction, appId: string, deviceId: string): Promise<void>;
  /** Deletes some devices without a recent login. @returns how many */
  clearUnused(): Promise<number>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const FORGOTTEN_AFTER_MS = 90 * DAY_MS;
const CLEARED_AT_ONCE = 1000;
const MOST_PARSED = 10_000;

interface Dependencies {
  readonly knex: Knex;
  readonly pool: pg.Pool;
  readonly applications: Pick<Applications, 'usable'>;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly keys: Keys;
  readonly clock: Clock;
}

export function createDevices(deps: Dependencies): Devices {
  const { knex, pool, applications, bans, vpn, keys, clock } = deps;
  const lookup = createBatchedLookup<store.DeviceName, store.DeviceRow>({
    pool,
    textOf: ({ appId, deviceId }) => `${appId}\0${deviceId}`,
    read: store.readDevices,
  });
  const parsed = new LRUCache<string, KeyObject>({ max: MOST_PARSED });

  function keyOf(row: Pick<store.DeviceRow, 'alg' | 'public_key'>): KeyObject {
    const bytes = row.public_key.toString('latin1');
    let key = parsed.get(bytes);
    if (!key) {
      key = toKeyObject({ alg: row.alg, publicKey: row.public_key });
      parsed.set(bytes, key);
    }
    return key;
  }

  return {
    async register({ appId, hwid, alg, jwk }, trust, client) {
      const application = await applications.usable(appId, trust);
      const key = readDeviceKey(alg, jwk);
      if (!key) throw invalidMember('/jwk', `must be a public key for ${alg}`);
      if (trust?.device?.deviceId !== key.deviceId) throw new ApiError('DEVICE_SIGNATURE_INVALID');
      const hwidDigest = keys.hwidDigest(appId, hwid);
      vpn.assertNone(application, client);
      await bans.assertNone(knex, appId, { hwidDigests: [hwidDigest], address: client.address });
      await store.upsertDevice(knex, {
        app_id: appId,
        device_id: key.deviceId,
        alg: key.alg,
        public_key: key.publicKey,
        hwid_digest: hwidDigest,
        created_at: clock.now(),
      });
      return key.deviceId;
    },

    async find(appId, deviceId) {
      const row = await lookup({ appId, deviceId });
      if (!row) return undefined;
      return {
        deviceId,
        hwidDigest: row.hwid_digest,
        hasSigned: (text, signature) => isSignedBy(row.alg, keyOf(row), text, signature),
      };
    },

    ofKey(alg, jwk) {
      const key = readDeviceKey(alg, jwk);
      return (
        key && {
          deviceId: key.deviceId,
          hwidDigest: null,
          hasSigned: (text, signature) => isSignedBy(key.alg, toKeyObject(key), text, signature),
        }
      );
    },

    assertMachine(appId, hwid, trust) {
      const { hwidDigest } = trust?.device ?? {};
      if (!hwidDigest || keys.hwidDigest(appId, hwid).equals(hwidDigest)) return;
      throw new ApiError('DEVICE_MISMATCH', { detail: 'The device is registered for another machine.' });
    },

    async recordLogin(trx, appId, deviceId) {
      const found = await store.updateLastLogin(trx, appId, deviceId, clock.now());
      if (found === 0) throw new ApiError('DEVICE_SIGNATURE_INVALID');
    },

    clearUnused() {
      const now = clock.now().getTime();
      return store.clearUnusedDevices(
        knex,
        new Date(now - FORGOTTEN_AFTER_MS),
        new Date(now - DAY_MS),
        CLEARED_AT_ONCE,
      );
    },
  };
}
