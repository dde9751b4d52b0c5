export type LicenseStatus = 'unused' | 'redeemed' | 'paused' | 'banned';

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
