export type LicenseStatus = 'unused' | 'redeemed' | 'paused' | 'banned';

/** How a key is found and how it is shown. */
export interface KeyColumns {
  readonly license_id: string;
  readonly key_digest: Buffer;
  readonly key_sealed: Buffer;
}

/** A licence as it is kept. */
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
  /** Null for one that is not banned, or came banned from another system. */
  readonly status_before_ban: LicenseStatus | null;
}

/** What a developer does to a licence besides changing its terms. */
export type LicenseStep = 'ban' | 'unban' | 'pause' | 'resume';

/**
 * Whether a licence may be redeemed.
 * @returns `used` and `unusable` say why not
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
 * The status of a licence after a step. Whoever lifts a ban finds the licence as it was before, paused when it was, and whoever
 * lifts a pause finds it redeemed when somebody has redeemed it.
 * @returns undefined when the step cannot be taken
 */
export function statusAfter(
  step: LicenseStep,
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
 * Whether a moment until which a key can be redeemed may become another one: never an earlier one.
 * @param present null is no end
 */
export function isNotEarlier(wanted: Date | null, present: Date | null): boolean {
  if (wanted === null) return true;
  return present !== null && wanted >= present;
}
