import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Bulk, Step } from '../../foundation/bulk/bulk.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import { isStorable } from './generation.ts';
import type { KeySafe, License } from './license.ts';
import { deleteNext } from './license-bulk-store.ts';
import { LICENSE_EVENTS } from './license-events.ts';
import { isNotEarlier, statusAfter, type LicenseAction } from './license-state.ts';
import * as store from './license-store.ts';

/** Keys to delete in one transaction, whose statements delete a tenth of it each. */
const DELETED_AT_ONCE = 10_000;
const STATEMENT = 1_000;

export interface LicenseTerms {
  readonly note?: string | null | undefined;
  /** Null for no end. */
  readonly redeemBy?: Date | null | undefined;
}

/** Changes of single keys, and the deletion of unused ones. */
export interface LicenseChanges {
  /** @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND */
  get(developerId: string, appId: string, licenseId: string): Promise<License>;
  /** @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND; VALIDATION_FAILED for an earlier last day */
  update(actor: Actor, appId: string, licenseId: string, terms: LicenseTerms): Promise<License>;
  /**
   * Bans a key inside the caller's transaction, which locks the application: no later redemption or login with the key
   * succeeds.
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_STATE_CONFLICT
   */
  ban(
    trx: Knex.Transaction,
    actor: Actor,
    appId: string,
    licenseId: string,
    reason: string | null,
  ): Promise<License>;
  /** @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, LICENSE_STATE_CONFLICT */
  unban(actor: Actor, appId: string, licenseId: string): Promise<License>;
  /**
   * No redemption or login with the key succeeds after it returns.
   * @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, LICENSE_STATE_CONFLICT
   */
  pause(actor: Actor, appId: string, licenseId: string): Promise<License>;
  /** @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, LICENSE_STATE_CONFLICT */
  resume(actor: Actor, appId: string, licenseId: string): Promise<License>;
  /** @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, LICENSE_STATE_CONFLICT */
  delete(actor: Actor, appId: string, licenseId: string): Promise<void>;
  /**
   * Deletes unused keys, in transactions of 10,000 each; not those that resellers have paid for.
   * @param tier undefined for those of every tier
   * @returns how many
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS
   */
  deleteUnused(actor: Actor, appId: string, tier: string | undefined): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly safe: KeySafe;
  readonly bulk: Bulk;
  readonly events: Events;
}

export function createLicenseChanges(deps: Dependencies): LicenseChanges {
  const { knex, applications, safe, bulk, events } = deps;

  async function applyAction(
    trx: Knex.Transaction,
    actor: Actor,
    appId: string,
    licenseId: string,
    name: LicenseAction,
    reason: string | null = null,
  ): Promise<License> {
    const license = found(await store.lockLicenseByIdForUpdate(trx, appId, licenseId));
    const status = statusAfter(name, license);
    if (!status) throw conflict(license);
    const row = await store.updateLicense(trx, licenseId, {
      status,
      ban_reason: reason,
      status_before_ban: name === 'ban' ? license.status : null,
    });
    await events.record(trx, {
      type: LICENSE_EVENTS[name],
      appId,
      userId: license.redeemed_by ?? undefined,
      data: { license_id: licenseId, status, ...(name === 'ban' && { reason }) },
      actor,
      target: licenseId,
    });
    return safe.open(row);
  }

  /** @param alone locks the application, so that no redemption or login is in progress */
  const stepOf =
    (name: LicenseAction, alone: boolean) =>
    (actor: Actor, appId: string, licenseId: string): Promise<License> =>
      knex.transaction(async (trx) => {
        if (alone) await applications.lockOfDeveloperForUpdate(trx, actor.developerId, appId);
        else await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        return applyAction(trx, actor, appId, licenseId, name);
      });

  return {
    async get(developerId, appId, licenseId) {
      await applications.ofDeveloper(developerId, appId);
      return safe.open(found(await store.findLicenseById(knex, appId, licenseId)));
    },

    update: (actor, appId, licenseId, { note, redeemBy }) =>
      knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        const license = found(await store.lockLicenseByIdForUpdate(trx, appId, licenseId));
        if (redeemBy && !isStorable(redeemBy)) {
          throw invalidMember('/redeem_by', 'must be a time in the years 1 to 9999');
        }
        if (redeemBy !== undefined && !isNotEarlier(redeemBy, license.redeem_by)) {
          throw invalidMember('/redeem_by', 'must be null or not earlier than the current value');
        }
        const changes = {
          ...(note !== undefined && { note }),
          ...(redeemBy !== undefined && { redeem_by: redeemBy }),
        };
        if (Object.keys(changes).length === 0) return safe.open(license);
        const row = await store.updateLicense(trx, licenseId, changes);
        const data = { license_id: licenseId, changed: Object.keys(changes) };
        await events.record(trx, {
          type: 'license.updated',
          appId,
          data,
          remark: changes,
          actor,
          target: licenseId,
        });
        return safe.open(row);
      }),

    ban: (trx, actor, appId, licenseId, reason) => applyAction(trx, actor, appId, licenseId, 'ban', reason),
    unban: stepOf('unban', false),
    pause: stepOf('pause', true),
    resume: stepOf('resume', false),

    delete: (actor, appId, licenseId) =>
      knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        const license = found(await store.lockLicenseByIdForUpdate(trx, appId, licenseId));
        if (license.status !== 'unused') throw conflict(license);
        await store.deleteLicense(trx, licenseId);
        const data = { license_id: licenseId, tier: license.tier };
        await events.record(trx, { type: 'license.deleted', appId, data, actor, target: licenseId });
      }),

    async deleteUnused(actor, appId, tier) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);

      /** @returns undefined if none is left */
      const deletePart = (step: Step, after: string) =>
        step(async (trx) => {
          await applications.lockOfDeveloperForShare(trx, developerId, appId);
          let last: string | undefined = after;
          let deleted = 0;
          for (let looked = 0; looked < DELETED_AT_ONCE && last !== undefined; looked += STATEMENT) {
            const part = await deleteNext(trx, { appId, status: 'unused', tier }, last, STATEMENT);
            deleted += part.deleted;
            last = part.last;
          }
          if (deleted > 0) {
            const data = { amount: deleted, status: 'unused', tier: tier ?? null };
            await events.record(trx, { type: 'license.deleted', appId, data, actor });
          }
          return { deleted, last };
        });

      return bulk.inSteps(developerId, async (step) => {
        let total = 0;
        for (let last: string | undefined = ''; last !== undefined;) {
          const part = await deletePart(step, last);
          total += part.deleted;
          last = part.last;
        }
        return total;
      });
    },
  };
}

function found(row: store.LicenseRow | undefined): store.LicenseRow {
  if (!row) throw new ApiError('LICENSE_NOT_FOUND');
  return row;
}

function conflict({ status }: store.LicenseRow): ApiError {
  return new ApiError('LICENSE_STATE_CONFLICT', { detail: `The license is ${status}.` });
}
