export type LicenseStatus = 'unused' | 'redeemed' | 'paused' | 'banned';

/** The forms of a key for lookup and display. */
export interface KeyColumns {
  readonly license_id: string;
  readonly key_digest: Buffer;
  readonly key_sealed: Buffer;
}

/** The row of a license. */
export interface LicenseRow extends KeyColumns {
  readonly app_id: string;
  readonly tier: string;
  readonly duration_days: number | null;
  readonly status: LicenseStatus;
  readonly note: string | null;
  readonly redeem_by: Date | null;
  readonly created_at: Date;
  readonly redeemed_at: Date | null;
  readonly redeemed_by: string | null;
  /** The reseller who generated it; null for the developer's own. */
  readonly reseller_id: string | null;
  readonly ban_reason: string | null;
  /** Null if it is not banned, or was banned when imported. */
  readonly status_before_ban: LicenseStatus | null;
}

/** A change of the status of a license. */
export type LicenseAction = 'ban' | 'unban' | 'pause' | 'resume';

/**
 * Whether a license may be redeemed.
 * @returns `used` or `unusable` if not
 */
export function redeemability(
  license: { readonly status: LicenseStatus; readonly redeem_by: Date | null },
  now: Date,
): 'redeemable' | 'used' | 'unusable' {
  if (license.status === 'redeemed') return 'used';
  if (license.status !== 'unused') return 'unusable';
  return license.redeem_by && license.redeem_by < now ? 'unusable' : 'redeemable';
}

/**
 * The status of a license after a step. Lifting a ban restores the status before it, and lifting a pause restores
 * redeemed or unused.
 * @returns undefined if the step is not possible
 */
export function statusAfter(
  step: LicenseAction,
  license: Pick<LicenseRow, 'status' | 'redeemed_at' | 'status_before_ban'>,
): LicenseStatus | undefined {
  const { status } = license;
  const restored = license.redeemed_at === null ? 'unused' : 'redeemed';
  switch (step) {
    case 'ban':
      return status === 'banned' ? undefined : 'banned';
    case 'unban':
      return status === 'banned' ? (license.status_before_ban ?? restored) : undefined;
    case 'pause':
      return status === 'unused' || status === 'redeemed' ? 'paused' : undefined;
    case 'resume':
      return status === 'paused' ? restored : undefined;
  }
}

/**
 * Whether the redemption deadline of a key can be changed: it can never become earlier.
 * @param present null for no deadline
 */
export function isNotEarlier(wanted: Date | null, present: Date | null): boolean {
  if (wanted === null) return true;
  return present !== null && wanted >= present;
}
