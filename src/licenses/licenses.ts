import type { Knex } from 'knex';
import pLimit from 'p-limit';
import { LIFETIME } from '../applications/application-state.ts';
import type { Actor } from '../audit/audit.ts';
import type { Application, Applications } from '../applications/applications.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import type { Keys } from '../keys/keys.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Keyring } from '../platform/keyring.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Random } from '../platform/random.ts';
import { extendSubscription } from '../subscriptions/subscriptions.ts';
import { canonicalLicenseKey, generateLicenseKey } from './license-key.ts';
import { redeemability, type LicenseStatus } from './license-state.ts';
import * as store from './license-store.ts';

/** Keys that are made in one go: about 20 ms in which nobody else is served. */
const SLICE = 250;
const UNUSED = { status: 'unused', redeemedAt: null, redeemedBy: null } as const;
const CLEARED_AT_ONCE = 1000;
const FIRST_MOMENT = new Date('0001-01-01T00:00:00.000Z');

export interface NewLicenses {
  readonly amount: number;
  /** Days of 24 hours; null is a lifetime. */
  readonly durationDays: number | null;
  readonly tier: string;
  readonly redeemBy: Date | null;
  readonly note: string | null;
}

export interface License {
  readonly licenseId: string;
  readonly licenseKey: string;
  readonly tier: string;
  readonly durationDays: number | null;
  readonly status: LicenseStatus;
  readonly note: string | null;
  readonly redeemBy: Date | null;
  readonly redeemedAt: Date | null;
  readonly redeemedBy: string | null;
  readonly createdAt: Date;
}

/** A licence that was redeemed, and the user for whom. */
export interface LicenseHolder {
  readonly licenseId: string;
  readonly userId: string;
}

export interface Redemption {
  readonly licenseId: string;
  readonly tier: string;
  /** When the tier that the key gave ends. */
  readonly expiresAt: Date;
}

export interface Licenses {
  /**
   * Generates keys, all or none.
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS; VALIDATION_FAILED for a tier that the application does not
   *   have and a moment outside of years 1 to 9999
   */
  create(actor: Actor, appId: string, wanted: NewLicenses): Promise<License[]>;
  /**
   * Generates keys inside the caller's transaction, which holds the application, and tells.
   * @param resellerId whose keys they are; null for the developer's own
   * @throws ApiError VALIDATION_FAILED as create does
   */
  generate(
    trx: Knex.Transaction,
    actor: Actor,
    application: Pick<Application, 'appId' | 'tiers'>,
    wanted: NewLicenses,
    resellerId?: string | null,
  ): Promise<License[]>;
  /** @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, page: PageRequest): Promise<Page<License>>;
  /**
   * Refuses a key that cannot be redeemed, before anything is done for it.
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_ALREADY_USED, LICENSE_UNUSABLE
   */
  assertRedeemable(db: Knex, application: Application, licenseKey: string): Promise<void>;
  /**
   * Whom a key logs in.
   * @returns the licence and the user who redeemed it; undefined for one that is unused
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_UNUSABLE
   */
  holderOf(db: Knex, application: Application, licenseKey: string): Promise<LicenseHolder | undefined>;
  /**
   * Spends a key on a user, exactly once, inside the caller's transaction, which holds the user's row.
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_ALREADY_USED, LICENSE_UNUSABLE, LICENSE_NOT_APPLICABLE
   */
  redeem(
    trx: Knex.Transaction,
    application: Application,
    userId: string,
    licenseKey: string,
  ): Promise<Redemption>;
  /** Deletes some licences of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
  /** Seals some keys anew under the current master key. @returns how many */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly events: Events;
  readonly keys: Keys;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export function createLicenses(deps: Dependencies): Licenses {
  const { knex, applications, events, keys, keyring, clock, random, newId } = deps;
  const bulk = pLimit(1);
  const generating = new Set<string>();

  function digestOf(licenseKey: string): Buffer {
    const canonical = canonicalLicenseKey(licenseKey);
    if (!canonical) throw new ApiError('LICENSE_NOT_FOUND');
    return keys.licenseDigest(canonical);
  }

  function assertUsable(row: store.LicenseRow | undefined): asserts row is store.LicenseRow {
    if (!row) throw new ApiError('LICENSE_NOT_FOUND');
    const state = redeemability(row, clock.now());
    if (state === 'used') throw new ApiError('LICENSE_ALREADY_USED');
    if (state === 'unusable') throw new ApiError('LICENSE_UNUSABLE');
  }

  /** One bulk call at a time, and one a developer: the others' are never kept out by his. */
  async function generateInBulk<Result>(
    developerId: string,
    generate: () => Promise<Result>,
  ): Promise<Result> {
    if (generating.has(developerId)) {
      throw new ApiError('TOO_MANY_REQUESTS', {
        detail: 'You have another bulk generation under way.',
        retryAfter: 1,
      });
    }
    generating.add(developerId);
    try {
      return await bulk(generate);
    } finally {
      generating.delete(developerId);
    }
  }

  function newKey() {
    const licenseKey = generateLicenseKey(random);
    const license_id = newId('lic');
    const columns = {
      license_id,
      key_digest: keys.licenseDigest(licenseKey.replaceAll('-', '')),
      key_sealed: keyring.seal(Buffer.from(licenseKey), sealContext(license_id)),
    };
    return { licenseKey, columns };
  }

  function toLicense(row: store.LicenseRow): License {
    return {
      licenseId: row.license_id,
      licenseKey: keyring.open(row.key_sealed, sealContext(row.license_id)).toString(),
      tier: row.tier,
      durationDays: row.duration_days,
      status: row.status,
      note: row.note,
      redeemBy: row.redeem_by,
      redeemedAt: row.redeemed_at,
      redeemedBy: row.redeemed_by,
      createdAt: row.created_at,
    };
  }

  async function generate(
    trx: Knex.Transaction,
    actor: Actor,
    { appId, tiers }: Pick<Application, 'appId' | 'tiers'>,
    { amount, durationDays, tier, redeemBy, note }: NewLicenses,
    resellerId: string | null = null,
  ): Promise<License[]> {
    if (redeemBy && !(redeemBy >= FIRST_MOMENT && redeemBy <= LIFETIME)) {
      throw invalidMember('/redeem_by', 'must be a moment of the years 1 to 9999');
    }
    if (!tiers.includes(tier)) {
      throw invalidMember('/tier', `must be one of the application's tiers: ${tiers.join(', ')}`);
    }
    const createdAt = clock.now();
    const common = { tier, durationDays, note, redeemBy, createdAt };
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
      const slice = Array.from({ length: Math.min(amount - made.length, SLICE) }, newKey);
      await store.insertLicenses(trx, { ...batch, keys: slice.map(({ columns }) => columns) });
      for (const { licenseKey, columns } of slice) {
        made.push({ ...UNUSED, ...common, licenseId: columns.license_id, licenseKey });
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
  }

  return {
    generate,

    async create(actor, appId, wanted) {
      const { developerId } = actor;
      const work = () =>
        knex.transaction(async (trx) => {
          const application = await applications.holdOfDeveloper(trx, developerId, appId);
          return generate(trx, actor, application, wanted);
        });
      return wanted.amount <= SLICE ? work() : generateInBulk(developerId, work);
    },

    async list(developerId, appId, request) {
      await applications.ofDeveloper(developerId, appId);
      const page = await readPage(
        request,
        'lic',
        (row: store.LicenseRow) => row.license_id,
        (range) => store.listLicenses(knex, appId, range),
      );
      return { data: page.data.map(toLicense), nextCursor: page.nextCursor };
    },

    async assertRedeemable(db, application, licenseKey) {
      assertUsable(await store.findLicense(db, application.appId, digestOf(licenseKey)));
    },

    async holderOf(db, application, licenseKey) {
      const license = await store.findLicense(db, application.appId, digestOf(licenseKey));
      if (license?.status === 'redeemed' && license.redeemed_by !== null) {
        return { licenseId: license.license_id, userId: license.redeemed_by };
      }
      assertUsable(license);
      return undefined;
    },

    async redeem(trx, application, userId, licenseKey) {
      const license = await store.lockLicense(trx, application.appId, digestOf(licenseKey));
      assertUsable(license);
      const now = clock.now();
      const grant = { tier: license.tier, durationDays: license.duration_days };
      const expiresAt = await extendSubscription(trx, userId, grant, application, now);
      if (!expiresAt) throw new ApiError('LICENSE_NOT_APPLICABLE');
      await store.markRedeemed(trx, license.license_id, userId, now);
      await events.record(trx, {
        type: 'license.redeemed',
        appId: application.appId,
        userId,
        data: {
          license_id: license.license_id,
          tier: license.tier,
          duration_days: license.duration_days,
          expires_at: expiresAt.toISOString(),
        },
      });
      return { licenseId: license.license_id, tier: license.tier, expiresAt };
    },

    clearOf: (appId) => store.deleteLicensesOfApplication(knex, appId, CLEARED_AT_ONCE),

    reseal: store.createKeyResealer(knex, keyring, sealContext),
  };
}

function sealContext(licenseId: string): string {
  return `license-key:${licenseId}`;
}
