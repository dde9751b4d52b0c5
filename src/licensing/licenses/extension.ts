import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import type { Bulk } from '../../foundation/bulk/bulk.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { isLockedOut } from '../../platform/database/index.ts';
import { extendSubscriptions } from '../subscriptions/subscriptions.ts';
import { MOST_DAYS, SLICE } from './license.ts';
import * as store from './license-bulk-store.ts';
import type { Holders } from './transfer.ts';

const STATEMENT = 1_000;
const ATTEMPTS = 5;

export interface WantedExtension {
  /** Days of 24 hours. */
  readonly days: number;
  readonly licenseIds?: readonly string[] | undefined;
  /** All licenses of the application instead of some ids. */
  readonly all?: boolean | undefined;
  /** With `all`, only those of one tier. */
  readonly tier?: string | undefined;
}

export interface Extended {
  /** Keys that were extended. */
  readonly licenses: number;
  readonly users: number;
  /** Keys of the selection that were not extended and extended no user. */
  readonly left: number;
}

/** Extends keys and the subscriptions of their holders. */
export interface LicenseExtension {
  /**
   * Adds days to unredeemed keys, and to the subscriptions of the users who redeemed the others, all or none.
   * @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, TOO_MANY_REQUESTS; VALIDATION_FAILED unless it has
   *   either ids or `all`
   */
  extend(actor: Actor, appId: string, wanted: WantedExtension): Promise<Extended>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly holders: Pick<Holders, 'lockAllForUpdate'>;
  readonly bulk: Bulk;
  readonly events: Events;
  readonly clock: Clock;
}

/** The input of one attempt. */
interface Attempt {
  readonly trx: Knex.Transaction;
  readonly application: Application;
  /** When the application was read: all days are added as of this time. */
  readonly now: Date;
  readonly selection: store.Selection;
  readonly days: number;
  /** Subscriptions that have ended start again. */
  readonly revive: boolean;
}

/**
 * Users are locked before licenses, as in a redemption, and both in the order of their ids. Users who redeem a key of
 * the selection in between are locked after the licenses with NOWAIT; if that fails, the attempt starts over.
 */
export function createLicenseExtension(deps: Dependencies): LicenseExtension {
  const { knex, applications, holders, bulk, events, clock } = deps;

  /** @returns the number of keys that extended a user, and the number of these users */
  async function extendHolders(
    { trx, application, now, selection, days, revive }: Attempt,
    userIds: readonly string[],
  ): Promise<{ keys: number; users: number }> {
    const held = await store.findRedeemedTiers(trx, selection, userIds);
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
      await holders.lockAllForUpdate(trx, userIds);
      await extendLocked(userIds);
      after = userIds.at(-1)!;
    }

    let [licenses, selected] = [0, 0];
    const late = new Set<string>();
    for (const chunk of chunksOf(selection)) {
      for (let after = ''; ;) {
        const rows = await store.findSelected(trx, chunk, after, STATEMENT);
        if (rows.length === 0) break;
        selected += rows.length;
        const open = rows.filter(isUnredeemed).map(({ license_id }) => license_id);
        const longer = await store.extendDurations(trx, open, days, MOST_DAYS);
        licenses += longer.size;
        // A key may have been redeemed before it was locked.
        const others = open.filter((id) => !longer.has(id));
        const missed = await store.findSelected(trx, { ...chunk, licenseIds: others }, '', STATEMENT);
        for (const { status, redeemed_by: userId } of [...rows, ...missed]) {
          if (userId !== null && status !== 'banned' && !locked.has(userId)) late.add(userId);
        }
        after = rows.at(-1)!.license_id;
      }
    }

    const lateIds = [...late].sort();
    for (let start = 0; start < lateIds.length; start += STATEMENT) {
      const userIds = lateIds.slice(start, start + STATEMENT);
      await holders.lockAllForUpdate(trx, userIds, { nowait: true });
      await extendLocked(userIds);
    }
    return { licenses, users: total.users, left: selected - licenses - total.keys };
  }

  return {
    async extend(actor, appId, { days, licenseIds, all, tier }) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      if (licenseIds && all) throw invalidMember('/all', 'cannot be combined with license_ids');
      if (!licenseIds && !all) throw invalidMember('/license_ids', 'is required unless all is set');
      if (licenseIds && tier !== undefined)
        throw invalidMember('/tier', 'cannot be combined with license_ids');
      const ids = licenseIds && [...new Set(licenseIds)].sort();
      const selection: store.Selection = { appId, licenseIds: ids, tier };

      const work = async (trx: Knex.Transaction, application: Application, now: Date): Promise<Extended> => {
        if (ids && (await store.countLicenses(trx, selection)) < ids.length) {
          throw new ApiError('LICENSE_NOT_FOUND', {
            detail: 'At least one of these licenses does not exist.',
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
        await applications.lockRowOfDeveloperForShare(trx, developerId, appId);
        await events.record(trx, {
          type: 'license.extended',
          appId,
          data: { days, ...extended, ...(ids ? { amount: ids.length } : { tier: tier ?? null }) },
          actor,
          target: ids?.length === 1 ? ids[0] : undefined,
        });
        return extended;
      };

      // The application is not locked meanwhile, because bans, pauses and logins would wait for seconds. The days are
      // added as of one time, so later pauses do not affect them.
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

/** Chunks of a selection in the order of ids. */
function chunksOf(selection: store.Selection): store.Selection[] {
  const { licenseIds } = selection;
  if (!licenseIds) return [selection];
  const chunks: store.Selection[] = [];
  for (let start = 0; start < licenseIds.length; start += STATEMENT) {
    chunks.push({ ...selection, licenseIds: licenseIds.slice(start, start + STATEMENT) });
  }
  return chunks;
}

/** Repeats a transaction that may lose a lock conflict. */
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
