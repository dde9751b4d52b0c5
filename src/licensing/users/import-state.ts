import { LIFETIME } from '../../accounts/applications/application-state.ts';

const MAX_EMAIL_CHARACTERS = 254;
const MAX_DAYS = 36_500;

/** As at registration: the address of an HTML form (`format: email` of the contract). */
const EMAIL =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
/** RFC 3339 with a time zone. */
const MOMENT = /^(\d{4})-(\d{2})-(\d{2})T(?:[01]\d|2[0-3]):\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i;

/** The first subscription in a line of an import. */
export type ImportedGrant =
  | { readonly tier: string; readonly durationDays: number }
  | { readonly tier: string; readonly expiresAt: Date };

/** What is wrong with an address; undefined if nothing is. */
export function emailFault(email: string): string | undefined {
  if (email.length <= MAX_EMAIL_CHARACTERS && EMAIL.test(email)) return undefined;
  return 'email must be an email address';
}

/**
 * Reads the subscription of a line.
 * @param now it must end after this
 * @returns the grant, undefined for none, or what is wrong
 */
export function readGrant(
  { tier, days, expires_at: end }: { tier?: string; days?: string; expires_at?: string },
  tiers: readonly string[],
  now: Date,
): { readonly grant: ImportedGrant | undefined } | { readonly fault: string } {
  if (tier === undefined) {
    const alone = days ?? end;
    return alone === undefined ? { grant: undefined } : { fault: 'days and expires_at require a tier' };
  }
  if (!tiers.includes(tier)) return { fault: `tier must be one of ${tiers.join(', ')}` };
  if ((days === undefined) === (end === undefined))
    return { fault: 'tier requires either days or expires_at' };
  if (days !== undefined) {
    const durationDays = /^[1-9]\d{0,4}$/.test(days) ? Number(days) : 0;
    if (durationDays >= 1 && durationDays <= MAX_DAYS) return { grant: { tier, durationDays } };
    return { fault: `days must be a whole number from 1 to ${MAX_DAYS}` };
  }
  const expiresAt = new Date(isMoment(end!) ? end! : NaN);
  if (expiresAt > now && expiresAt <= LIFETIME) return { grant: { tier, expiresAt } };
  return { fault: 'expires_at must be in the future, no later than the year 9999, with its time zone' };
}

function isMoment(text: string): boolean {
  const [, year, month, day] = MOMENT.exec(text) ?? [];
  // Date reads February 30 as a day in March, and 24:00 as the next day.
  return year !== undefined && Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}
