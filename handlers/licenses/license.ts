import type { components } from '../../generated/types.ts';
import type { License, LicenseFilter, NewLicenses } from '../../src/licensing/licenses/licenses.ts';
import { toDuration } from './duration.ts';

/** A license as the contract shows it. */
export function toLicense(license: License): components['schemas']['License'] {
  return {
    license_id: license.licenseId,
    license_key: license.licenseKey,
    tier: license.tier,
    ...toDuration(license.durationDays),
    status: license.status,
    note: license.note,
    redeem_by: license.redeemBy?.toISOString() ?? null,
    redeemed_at: license.redeemedAt?.toISOString() ?? null,
    redeemed_by: license.redeemedBy,
    reseller_id: license.resellerId,
    ban_reason: license.banReason,
    created_at: license.createdAt.toISOString(),
  };
}

/** Licenses as lines of JSON. */
export async function* toLines(parts: AsyncIterable<readonly License[]>): AsyncGenerator<string> {
  for await (const part of parts) {
    yield part.map((license) => `${JSON.stringify(toLicense(license))}\n`).join('');
  }
}

const PART = 500;
type Created = components['schemas']['CreateLicensesResult'];

/** Generated licenses as the contract shows them, one part of the text at a time. */
export async function* toCreatedLicenses(made: readonly License[]): AsyncGenerator<string> {
  const status: Created['status'] = 'success';
  yield `{"status":${JSON.stringify(status)},"licenses":[`;
  for (let start = 0; start < made.length; start += PART) {
    const part = made.slice(start, start + PART).map((license) => JSON.stringify(toCreated(license)));
    yield (start === 0 ? '' : ',') + part.join(',');
  }
  yield ']}';
}

function toCreated(license: License): Created['licenses'][number] {
  return {
    license_id: license.licenseId,
    license_key: license.licenseKey,
    tier: license.tier,
    ...toDuration(license.durationDays),
    note: license.note,
    redeem_by: license.redeemBy?.toISOString() ?? null,
  };
}

/** The keys to generate. */
export function toNewLicenses(body: components['schemas']['CreateLicensesRequest']): NewLicenses {
  return {
    amount: body.amount,
    durationDays: body.duration_days ?? null,
    tier: body.tier,
    redeemBy: body.redeem_by ? new Date(body.redeem_by) : null,
    note: body.note ?? null,
    mask: body.mask,
  };
}

/** The licenses that a query selects. */
export function toFilter(query: {
  readonly status?: License['status'];
  readonly tier?: string;
  readonly reseller_id?: string;
  readonly q?: string;
}): LicenseFilter {
  const { status, tier, reseller_id: resellerId, q } = query;
  return { status, tier, resellerId, q };
}
