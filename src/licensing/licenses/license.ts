import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { canonicalLicenseKey } from './license-key.ts';
import type { LicenseStatus } from './license-state.ts';
import type { KeyColumns, LicenseRow } from './license-store.ts';

/** The longest time that a key can give. */
export const MOST_DAYS = 36_500;
/** Keys to generate in one step: it blocks the event loop for about 5 ms. More are a bulk operation. */
export const SLICE = 250;

export interface License {
  readonly licenseId: string;
  readonly licenseKey: string;
  readonly tier: string;
  /** Days of 24 hours; null is a lifetime. */
  readonly durationDays: number | null;
  readonly status: LicenseStatus;
  readonly note: string | null;
  readonly redeemBy: Date | null;
  readonly redeemedAt: Date | null;
  readonly redeemedBy: string | null;
  readonly resellerId: string | null;
  readonly banReason: string | null;
  readonly createdAt: Date;
}

/** How keys are looked up, stored and displayed. */
export interface KeySafe {
  /** @returns undefined if the text cannot be a key */
  digestOf(licenseKey: string): Buffer | undefined;
  /** The columns of a new license with this key, and its id. */
  keep(licenseKey: string): KeyColumns;
  /** The license of a row, with its key in clear text. */
  open(row: LicenseRow): License;
}

interface Dependencies {
  readonly keys: Keys;
  readonly keyring: Keyring;
  readonly newId: NewId;
}

export function createKeySafe({ keys, keyring, newId }: Dependencies): KeySafe {
  function digestOf(licenseKey: string): Buffer | undefined {
    const canonical = canonicalLicenseKey(licenseKey);
    return canonical === undefined ? undefined : keys.licenseDigest(canonical);
  }

  return {
    digestOf,

    keep(licenseKey) {
      const license_id = newId('lic');
      return {
        license_id,
        key_digest: digestOf(licenseKey)!,
        key_sealed: keyring.seal(Buffer.from(licenseKey), sealContext(license_id)),
      };
    },

    open: (row) => ({
      licenseId: row.license_id,
      licenseKey: keyring.open(row.key_sealed, sealContext(row.license_id)).toString(),
      tier: row.tier,
      durationDays: row.duration_days,
      status: row.status,
      note: row.note,
      redeemBy: row.redeem_by,
      redeemedAt: row.redeemed_at,
      redeemedBy: row.redeemed_by,
      resellerId: row.reseller_id,
      banReason: row.ban_reason,
      createdAt: row.created_at,
    }),
  };
}

/** The context that a sealed key is bound to. */
export function sealContext(licenseId: string): string {
  return `license-key:${licenseId}`;
}
