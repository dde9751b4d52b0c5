import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import {
  changeSelected,
  type Bulk,
  type BulkOutcome,
  type Refusals,
  type Selection,
} from '../../foundation/bulk/bulk.ts';
import type { ErrorCode } from '../../foundation/errors/catalog.ts';
import type { Change, Events } from '../../foundation/events/events.ts';
import * as store from './license-action-store.ts';
import { LICENSE_EVENTS } from './license-events.ts';
import { statusAfter, type LicenseAction, type LicenseStatus } from './license-state.ts';
import type { LicenseFilter, Listing } from './listing.ts';

/** What may be done with many licenses; bans may concern users, and are in moderation. */
export type BulkAction = Exclude<LicenseAction, 'ban'> | 'delete';

/** A slice of licenses to change in the caller's transaction. */
export interface LicenseSlice {
  readonly appId: string;
  readonly ids: readonly string[];
  /** Only those that still match it. */
  readonly filter: LicenseFilter | undefined;
  readonly dryRun: boolean;
}

export interface BulkActions {
  /**
   * Does the same with many licenses, in transactions of some hundred each.
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, VALIDATION_FAILED
   */
  changeMany(
    actor: Actor,
    appId: string,
    action: BulkAction,
    selection: Selection<LicenseFilter>,
  ): Promise<BulkOutcome>;
  /**
   * Changes selected licenses, each slice by the caller's work in a transaction.
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, VALIDATION_FAILED
   */
  changeSelected(
    actor: Actor,
    appId: string,
    selection: Selection<LicenseFilter>,
    change: (trx: Knex.Transaction, slice: LicenseSlice) => Promise<Refusals>,
  ): Promise<BulkOutcome>;
  /**
   * Bans a slice of licenses inside the caller's transaction, which locks the application.
   * @returns which stay as they are, and the users who redeemed the others
   */
  banSlice(
    trx: Knex.Transaction,
    actor: Actor,
    slice: LicenseSlice,
    reason: string | null,
  ): Promise<{ readonly refusals: Refusals; readonly holders: readonly string[] }>;
}

interface Dependencies {
  readonly applications: Applications;
  readonly bulk: Bulk;
  readonly events: Events;
  readonly listing: Pick<Listing, 'selector'>;
}

export function createBulkActions({ applications, bulk, events, listing }: Dependencies): BulkActions {
  /** Decides about each license, and returns those that change with their status afterwards. */
  async function decide(trx: Knex.Transaction, slice: LicenseSlice, action: LicenseAction | 'delete') {
    const { appId, ids, filter, dryRun } = slice;
    const rows = dryRun
      ? await store.findLicenses(trx, appId, ids)
      : await store.lockLicensesForUpdate(trx, appId, ids);
    const refusals = new Map<string, ErrorCode>(ids.map((id) => [id, 'LICENSE_NOT_FOUND']));
    const changing: { readonly license: store.ActionRow; readonly status: LicenseStatus }[] = [];
    for (const license of rows) {
      const status = isStill(license, filter) ? statusOf(license, action) : undefined;
      if (status === undefined) refusals.set(license.license_id, 'LICENSE_STATE_CONFLICT');
      else refusals.delete(license.license_id);
      if (status !== undefined) changing.push({ license, status });
    }
    return { refusals, changing };
  }

  /** The caller's transaction locks the application. */
  async function actOnSlice(
    trx: Knex.Transaction,
    actor: Actor,
    slice: LicenseSlice,
    action: LicenseAction | 'delete',
    reason: string | null = null,
  ) {
    const { appId, dryRun } = slice;
    const { refusals, changing } = await decide(trx, slice, action);
    const holders = changing.flatMap(({ license }) => license.redeemed_by ?? []);
    if (dryRun || changing.length === 0) return { refusals, holders };
    if (action === 'delete') {
      await store.deleteLicenses(
        trx,
        changing.map(({ license }) => license.license_id),
      );
    } else {
      await store.updateStatuses(
        trx,
        changing.map(({ license, status }) => ({
          licenseId: license.license_id,
          status,
          before: action === 'ban' ? license.status : null,
        })),
        reason,
      );
    }
    const details = action === 'ban' ? { reason } : {};
    const changes = changing.map(({ license, status }): Change => {
      const license_id = license.license_id;
      const change = { type: LICENSE_EVENTS[action], appId, actor, target: license_id };
      if (action === 'delete') return { ...change, data: { license_id, tier: license.tier } };
      return {
        ...change,
        userId: license.redeemed_by ?? undefined,
        data: { license_id, status, ...details },
      };
    });
    await events.record(trx, ...changes);
    return { refusals, holders };
  }

  const changeLicenses: BulkActions['changeSelected'] = async (actor, appId, selection, change) => {
    const { developerId } = actor;
    await applications.ofDeveloper(developerId, appId);
    const { filter, dryRun } = selection;
    const list = await listing.selector(appId, filter ?? {});
    return bulk.inSteps(developerId, (step) =>
      changeSelected(selection, {
        prefix: 'lic',
        notFound: 'LICENSE_NOT_FOUND',
        list: (_filter, page) => list(page),
        change: (ids) => step((trx) => change(trx, { appId, ids, filter, dryRun })),
      }),
    );
  };

  return {
    changeMany: (actor, appId, action, selection) =>
      changeLicenses(actor, appId, selection, async (trx, slice) => {
        // As for a single license: no redemption or login with a paused key is half done afterwards.
        const isAlone = action === 'pause' && !slice.dryRun;
        if (isAlone) await applications.lockOfDeveloperForUpdate(trx, actor.developerId, appId);
        else await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        return (await actOnSlice(trx, actor, slice, action)).refusals;
      }),

    changeSelected: changeLicenses,

    banSlice: (trx, actor, slice, reason) => actOnSlice(trx, actor, slice, 'ban', reason),
  };
}

/** The status after an action; for a deletion that of before it. */
function statusOf(license: store.ActionRow, action: LicenseAction | 'delete'): LicenseStatus | undefined {
  if (action !== 'delete') return statusAfter(action, license);
  return license.status === 'unused' ? 'unused' : undefined;
}

/** Whether a license still has the status of the filter that has found it. */
function isStill({ status }: store.ActionRow, filter: LicenseFilter | undefined): boolean {
  return filter?.status === undefined || filter.status === status;
}
