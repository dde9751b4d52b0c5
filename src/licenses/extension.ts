import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import type { Application, Applications } from '../applications/applications.ts';
import type { Bulk } from '../bulk/bulk.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import type { Clock } from '../platform/clock.ts';
import { isLockedOut } from '../platform/database/index.ts';
import { extendSubscriptions, lockUsers } from '../subscriptions/subscriptions.ts';
import { MOST_DAYS, SLICE } from './license.ts';
import * as store from './license-bulk-store.ts';

const STATEMENT = 1_000;
const ATTEMPTS = 5;

export interface WantedExtension {
  /** Of 24 hours. */
  readonly days: number;
  readonly licenseIds?: readonly string[] | undefined;
  /** All of the application, instead of some ids. */
  readonly all?: boolean | undefined;
  /** With `all`, those of one tier. */
  readonly tier?: string | undefined;
}

export interface Extended {
  /** Keys that last longer now. */
  readonly licenses: number;
  readonly users: number;
  /** Keys of the selection that gave days neither to themselves nor to a user. */
  readonly left: number;
}

/** Gives keys and their holders more days. */
export interface LicenseExtension {
  /**
   * Adds days to keys that nobody has redeemed and to the subscriptions of those who have redeemed the others, all or none.
   * @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, TOO_MANY_REQUESTS; VALIDATION_FAILED unless it has either
   *   ids or `all`
   */
  extend(actor: Actor, appId: string, wanted: WantedExtension): Promise<Extended>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly bulk: Bulk;
  readonly events: Events;
  readonly clock: Clock;
}

/** What one attempt has to do with. */
interface Attempt {
  readonly trx: Knex.Transaction;
  readonly application: Application;
  /** When the application was read: the moment at which all days are added. */
  readonly now: Date;
  readonly selection: store.Selection;
  readonly days: number;
  /** Subscriptions that have ended begin anew. */
  readonly revive: boolean;
}

/**
 * Users are locked before licences, as a redemption does, and both in the order of their ids. Whoever redeems a key of the
 * selection in between is locked behind the licences, without waiting: the attempt begins again when that fails.
 */
export function createLicenseExtension(deps: Dependencies): LicenseExtension {
  const { knex, applications, bulk, events, clock } = deps;

  /** @returns keys that gave a user days, and how many users those are */
  async function extendHolders(
    { trx, application, now, selection, days, revive }: Attempt,
    userIds: readonly string[],
  ): Promise<{ keys: number; users: number }> {
    const held = await store.findHeldTiers(trx, selection, userIds);
    const wanted = held.map(({ user_id: userId, tier, licenses }) => ({ userId, tier, licenses }));
    const added = await extendSubscriptions(trx, wanted, { durationDays: days, revive }, application, now);
    await events.record(
      trx,
      ...added.map(({ userId, tier, expiresAt }) => ({
        type: 'user.subscription_extended' as const,
        appId: application.appId,
        userId,
        data: { tier, days, expires_at: expiresAt.toISOString() },
      })),
    );
    const got = new Set(added.map(({ userId, tier }) => `${userId} ${tier}`));
    const keys = wanted.filter(({ userId, tier }) => got.has(`${userId} ${tier}`));
    return {
      keys: keys.reduce((sum, { licenses }) => sum + licenses, 0),
      users: new Set(added.map(({ userId }) => userId)).size,
    };
  }

  async function extendAll(attempt: Attempt): Promise<Extended> {
    const { trx, selection, days } = attempt;
    const total = { keys: 0, users: 0 };
    const locked = new Set<string>();
    const extendLocked = async (userIds: readonly string[]) => {
      userIds.forEach((userId) => locked.add(userId));
      const { keys, users } = await extendHolders(attempt, userIds);
      total.keys += keys;
      total.users += users;
    };

    for (let after = ''; ;) {
      const userIds = await store.findHolders(trx, selection, after, STATEMENT);
      if (userIds.length === 0) break;
      await lockUsers(trx, userIds);
      await extendLocked(userIds);
      after = userIds.at(-1)!;
    }

    let [licenses, selected] = [0, 0];
    const late = new Set<string>();
    for (const slice of slicesOf(selection)) {
      for (let after = ''; ;) {
        const rows = await store.findSelected(trx, slice, after, STATEMENT);
        if (rows.length === 0) break;
        selected += rows.length;
        const open = rows.filter(isUnredeemed).map(({ license_id }) => license_id);
        const longer = await store.extendDurations(trx, open, days, MOST_DAYS);
        licenses += longer.size;
        // One may have been redeemed before it was held.
        const others = open.filter((id) => !longer.has(id));
        const missed = await store.findSelected(trx, { ...slice, licenseIds: others }, '', STATEMENT);
        for (const { status, redeemed_by: userId } of [...rows, ...missed]) {
          if (userId !== null && status !== 'banned' && !locked.has(userId)) late.add(userId);
        }
        after = rows.at(-1)!.license_id;
      }
    }

    const lateIds = [...late].sort();
    for (let start = 0; start < lateIds.length; start += STATEMENT) {
      const userIds = lateIds.slice(start, start + STATEMENT);
      await lockUsers(trx, userIds, { nowait: true });
      await extendLocked(userIds);
    }
    return { licenses, users: total.users, left: selected - licenses - total.keys };
  }

  return {
    async extend(actor, appId, { days, licenseIds, all, tier }) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      if (licenseIds && all) throw invalidMember('/all', 'stands instead of license_ids');
      if (!licenseIds && !all) throw invalidMember('/license_ids', 'is required, or all');
      if (licenseIds && tier !== undefined) throw invalidMember('/tier', 'has no place beside license_ids');
      const ids = licenseIds && [...new Set(licenseIds)].sort();
      const selection: store.Selection = { appId, licenseIds: ids, tier };

      const work = async (trx: Knex.Transaction, application: Application, now: Date): Promise<Extended> => {
        if (ids && (await store.countLicenses(trx, selection)) < ids.length) {
          throw new ApiError('LICENSE_NOT_FOUND', {
            detail: 'The application has not all of these licences.',
          });
        }
        const extended = await extendAll({
          trx,
          application,
          now,
          selection,
          days,
          revive: ids !== undefined,
        });
        await applications.pinOfDeveloper(trx, developerId, appId);
        await events.record(trx, {
          type: 'license.extended',
          appId,
          data: { days, ...extended, ...(ids ? { amount: ids.length } : { tier: tier ?? null }) },
          actor,
          target: ids?.length === 1 ? ids[0] : undefined,
        });
        return extended;
      };

      // Not held meanwhile: bans, pauses and the logins behind them would wait for seconds. Added at one moment, the days are
      // right whatever pauses come after it.
      const attempts = (within: Knex) =>
        again(async () => {
          const application = await applications.ofDeveloper(developerId, appId);
          const now = clock.now();
          return within.transaction((trx) => work(trx, application, now));
        });
      if (ids && ids.length <= SLICE) return attempts(knex);
      return bulk.admit(developerId, () => bulk.transaction(developerId, attempts));
    },
  };
}

function isUnredeemed({ status, redeemed_at }: store.SelectedRow): boolean {
  return redeemed_at === null && (status === 'unused' || status === 'paused');
}

/** Parts of a selection in the order of their ids. */
function slicesOf(selection: store.Selection): store.Selection[] {
  const { licenseIds } = selection;
  if (!licenseIds) return [selection];
  const slices: store.Selection[] = [];
  for (let start = 0; start < licenseIds.length; start += STATEMENT) {
    slices.push({ ...selection, licenseIds: licenseIds.slice(start, start + STATEMENT) });
  }
  return slices;
}

/** Runs a transaction that may have to give way, until it need not. */
async function again<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!isLockedOut(error)) throw error;
      if (attempt === ATTEMPTS) throw new ApiError('SERVICE_UNAVAILABLE', { retryAfter: 1, cause: error });
    }
  }
}
