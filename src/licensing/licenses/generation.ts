import type { Knex } from 'knex';
import { LIFETIME } from '../../accounts/applications/application-state.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import type { Bulk } from '../../foundation/bulk/bulk.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import { invalidMember } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { SLICE, type KeySafe, type License } from './license.ts';
import { generateLicenseKey, generateMaskedKey, isKeyMask } from './license-key.ts';
import * as store from './license-store.ts';

const UNUSED = { status: 'unused', redeemedAt: null, redeemedBy: null, banReason: null } as const;
const FIRST_MOMENT = new Date('0001-01-01T00:00:00.000Z');

export interface NewLicenses {
  readonly amount: number;
  /** Days of 24 hours; null is a lifetime. */
  readonly durationDays: number | null;
  readonly tier: string;
  readonly redeemBy: Date | null;
  readonly note: string | null;
  /** The mask of the keys, each `*` a random character; the standard form if omitted. */
  readonly mask?: string | undefined;
}

/** Generates keys. */
export interface Generation {
  /**
   * Generates keys, all or none.
   * @throws ApiError APPLICATION_NOT_FOUND, QUOTA_EXCEEDED, TOO_MANY_REQUESTS; VALIDATION_FAILED for a tier that the
   *   application does not have, a time outside of the years 1 to 9999, and an unusable mask
   */
  create(actor: Actor, appId: string, wanted: NewLicenses): Promise<License[]>;
  /**
   * Generates keys inside the caller's transaction, which locks the application and counts them, and records the event.
   * @param resellerId the owner of the keys; null for the developer
   * @throws ApiError VALIDATION_FAILED as create does
   */
  generate(
    trx: Knex.Transaction,
    actor: Actor,
    application: Pick<Application, 'appId' | 'tiers'>,
    wanted: NewLicenses,
    resellerId?: string | null,
  ): Promise<License[]>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly developers: Pick<Developers, 'takeLicenses'>;
  readonly safe: KeySafe;
  readonly bulk: Bulk;
  readonly events: Events;
  readonly clock: Clock;
  readonly random: Random;
}

export function createGeneration(deps: Dependencies): Generation {
  const { knex, applications, developers, safe, bulk, events, clock, random } = deps;

  const generate: Generation['generate'] = async (
    trx,
    actor,
    { appId, tiers },
    { amount, durationDays, tier, redeemBy, note, mask },
    resellerId = null,
  ) => {
    if (redeemBy && !isStorable(redeemBy)) {
      throw invalidMember('/redeem_by', 'must be a time in the years 1 to 9999');
    }
    if (mask !== undefined && !isKeyMask(mask)) {
      throw invalidMember(
        '/mask',
        'must be of ASCII letters, digits, dashes and at least 16 *, not begin with a dash, and have at most ' +
          '100 characters',
      );
    }
    if (!tiers.includes(tier)) {
      throw invalidMember('/tier', `must be one of the application's tiers: ${tiers.join(', ')}`);
    }
    const createdAt = clock.now();
    const common = { ...UNUSED, tier, durationDays, note, redeemBy, resellerId, createdAt };
    const batch = {
      app_id: appId,
      reseller_id: resellerId,
      tier,
      duration_days: durationDays,
      note,
      redeem_by: redeemBy,
      created_at: createdAt,
    };
    const made: License[] = [];
    while (made.length < amount) {
      const slice = Array.from({ length: Math.min(amount - made.length, SLICE) }, () => {
        const licenseKey = mask === undefined ? generateLicenseKey(random) : generateMaskedKey(random, mask);
        return { licenseKey, columns: safe.keep(licenseKey) };
      });
      await store.insertLicenses(trx, { ...batch, keys: slice.map(({ columns }) => columns) });
      for (const { licenseKey, columns } of slice) {
        made.push({ ...common, licenseId: columns.license_id, licenseKey });
      }
    }
    await events.record(trx, {
      type: 'license.created',
      appId,
      data: {
        amount,
        tier,
        duration_days: durationDays,
        first_license_id: made[0]!.licenseId,
        last_license_id: made.at(-1)!.licenseId,
        reseller_id: resellerId,
      },
      actor,
    });
    return made;
  };

  return {
    generate,

    async create(actor, appId, wanted) {
      const { developerId } = actor;
      const work = async (trx: Knex.Transaction) => {
        const application = await applications.lockOfDeveloperForShare(trx, developerId, appId);
        const made = await generate(trx, actor, application, wanted);
        // Last, because every other generation of the developer's keys waits for this row.
        await developers.takeLicenses(trx, developerId, wanted.amount);
        return made;
      };
      if (wanted.amount <= SLICE) return knex.transaction(work);
      return bulk.admit(developerId, () => bulk.transaction(developerId, work));
    },
  };
}

/** Whether a time can be stored, and written in RFC 3339. */
export function isStorable(moment: Date): boolean {
  return moment >= FIRST_MOMENT && moment <= LIFETIME;
}
