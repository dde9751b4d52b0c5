import type { Knex } from 'knex';
import type { ApplicationKey, ApplicationKeys } from '../application-keys/application-keys.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Developers } from '../developers/developers.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import {
  required,
  toApplication,
  toColumns,
  toOwnApplication as toOwnApplicationAt,
  type ApplicationSettings,
  type OwnApplication,
} from './application.ts';
import type { ApplicationSecrets } from './application-secrets.ts';
import { changeStatus, type ApplicationStatus } from './application-state.ts';
import * as store from './application-store.ts';
import { eventOfStatus } from './status-events.ts';
import { assertTiers } from './tiers.ts';
import { isVersion } from './version.ts';

/** Members that are left out stay unchanged. */
export interface ApplicationChanges extends Partial<ApplicationSettings> {
  readonly status?: ApplicationStatus;
  /** Shorthand for a status: true is paused, false is active. */
  readonly paused?: boolean;
}

/** What developers do with their applications. */
export interface ApplicationManagement {
  /** @throws ApiError QUOTA_EXCEEDED; ACCOUNT_SUSPENDED if the developer has been suspended meanwhile */
  create(
    actor: Actor,
    name: string,
  ): Promise<{
    readonly application: OwnApplication;
    readonly secret: string;
    readonly keys: readonly ApplicationKey[];
  }>;
  /** @throws ApiError APPLICATION_NOT_FOUND, also for an application of another developer */
  ofDeveloper(developerId: string, appId: string): Promise<OwnApplication>;
  list(developerId: string, page: PageRequest): Promise<Page<OwnApplication>>;
  /**
   * @throws ApiError APPLICATION_NOT_FOUND; VALIDATION_FAILED when status and paused contradict each other;
   *   ACCOUNT_SUSPENDED if the developer has been suspended meanwhile
   */
  update(actor: Actor, appId: string, changes: ApplicationChanges): Promise<OwnApplication>;
  /** @throws ApiError APPLICATION_NOT_FOUND */
  delete(actor: Actor, appId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<
    Developers,
    'takeApplicationSeat' | 'returnApplicationSeat' | 'lockSuspensionForShare'
  >;
  readonly events: Events;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly secrets: ApplicationSecrets;
  readonly applicationKeys: Pick<ApplicationKeys, 'createFor'>;
}

export function createApplicationManagement(deps: Dependencies): ApplicationManagement {
  const { knex, developers, events, clock, newId, secrets, applicationKeys } = deps;
  const toOwnApplication = (row: store.ApplicationWithUsage) => toOwnApplicationAt(row, clock.now());

  async function ofDeveloper(developerId: string, appId: string): Promise<OwnApplication> {
    return toOwnApplication(await required(store.findApplicationOfDeveloper(knex, developerId, appId)));
  }

  /** A request that began before a suspension must not undo what it did to the applications. */
  async function assertNotSuspended(trx: Knex.Transaction, developerId: string): Promise<void> {
    if (await developers.lockSuspensionForShare(trx, developerId)) throw new ApiError('ACCOUNT_SUSPENDED');
  }

  return {
    async create(actor, name) {
      const { developerId } = actor;
      const secret = secrets.make();
      const appId = newId('app');
      const now = clock.now();
      const { row, keys } = await knex.transaction(async (trx) => {
        await developers.takeApplicationSeat(trx, developerId);
        await assertNotSuspended(trx, developerId);
        await store.insertApplication(trx, {
          app_id: appId,
          developer_id: developerId,
          name,
          secret_sealed: secrets.seal(appId, secret),
          created_at: now,
          updated_at: now,
        });
        await events.record(trx, { type: 'application.created', appId, data: { name }, actor });
        return {
          keys: await applicationKeys.createFor(trx, appId),
          row: await required(store.findApplicationOfDeveloper(trx, developerId, appId)),
        };
      });
      return { application: toOwnApplication(row), secret, keys };
    },

    ofDeveloper,

    async list(developerId, request) {
      const page = await readPage(
        request,
        'app',
        (row: store.ApplicationWithUsage) => row.app_id,
        (range) => store.listApplications(knex, developerId, range),
      );
      return { data: page.data.map(toOwnApplication), nextCursor: page.nextCursor };
    },

    async update(actor, appId, { status, paused, ...settings }) {
      const { developerId } = actor;
      const changed = [status, paused, ...Object.values(settings)].some((value) => value !== undefined);
      if (!changed) return ofDeveloper(developerId, appId);
      const fromSwitch = paused === undefined ? undefined : paused ? 'paused' : 'active';
      if (status && fromSwitch && status !== fromSwitch) {
        throw invalidMember('/paused', `contradicts status ${status}`);
      }
      if (settings.minimumVersion && !isVersion(settings.minimumVersion)) {
        throw invalidMember('/minimum_version', 'must be a version as defined by Semantic Versioning 2.0.0');
      }
      return knex.transaction(async (trx) => {
        const row = await required(store.lockApplicationOfDeveloperForUpdate(trx, developerId, appId));
        await assertNotSuspended(trx, developerId);
        const now = clock.now();
        const before = toApplication(row);
        if (settings.tiers) assertTiers(before.tiers, settings.tiers);
        const after = changeStatus(before, status ?? fromSwitch ?? before.status, now);
        const columns = toColumns(settings);
        await store.updateApplication(trx, appId, {
          ...columns,
          status: after.status,
          paused_at: after.pausedAt,
          paused_total_ms: after.pausedTotalMs,
          updated_at: now,
        });
        const data = { status_code: after.status, changed: Object.keys(columns) };
        const change = { appId, data, remark: columns, actor };
        await events.record(trx, { type: eventOfStatus(before.status, after.status), ...change });
        return toOwnApplication(await required(store.findApplicationOfDeveloper(trx, developerId, appId)));
      });
    },

    async delete(actor, appId) {
      const { developerId } = actor;
      await knex.transaction(async (trx) => {
        await required(store.lockApplicationOfDeveloperForUpdate(trx, developerId, appId));
        await store.updateApplication(trx, appId, { deleted_at: clock.now() });
        await developers.returnApplicationSeat(trx, developerId);
        await events.record(trx, { type: 'application.deleted', appId, actor });
      });
    },
  };
}
