import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import type { Developers } from '../developers/developers.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import type { Events, EventType } from '../events/events.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { isSameSecret } from '../platform/constant-time.ts';
import type { NewId } from '../platform/ids.ts';
import type { Keyring } from '../platform/keyring.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Random } from '../platform/random.ts';
import type { Vpn } from '../vpn/vpn.ts';
import {
  toApplication,
  toColumns,
  toOwnApplication as toOwnApplicationAt,
  type Application,
  type ApplicationSettings,
  type OwnApplication,
} from './application.ts';
import { changeStatus, isTakenUntil, type ApplicationStatus } from './application-state.ts';
import { createApplicationSecrets, secretContext, type Proof } from './application-secrets.ts';
import * as store from './application-store.ts';
import * as seats from './user-seat-store.ts';
import { isBelow, isVersion } from './version.ts';

export type { Application, OwnApplication } from './application.ts';

const CLEARED_AT_ONCE = 1000;

export interface ApplicationChanges extends Partial<ApplicationSettings> {
  readonly status?: ApplicationStatus;
  /** Short for a status: true is paused, false is active. */
  readonly paused?: boolean;
}

export interface Handshake {
  /** 128 random bits that name one run of a program; they authorise nothing. */
  readonly sessionId: string;
  readonly name: string;
  readonly statusCode: 'active' | 'paused' | 'update_required';
  readonly downloadUrl: string | null;
}

export interface Applications {
  /**
   * Finds an application by its credentials. An unknown one takes as long as a wrong secret.
   * @throws ApiError INVALID_APP_CREDENTIALS, APPLICATION_INACTIVE
   */
  authenticate(appId: string, secret: string): Promise<Application>;
  /**
   * Finds an application, whatever its status, by anything that only its secret can prove. An unknown one takes as long
   * as a failed proof.
   * @param proves whether a secret is the right one; must take the same time for every secret. It is asked twice: for the
   *   current secret, and for the one before it or a decoy
   * @returns the application and the secret that proved right
   * @throws ApiError INVALID_APP_CREDENTIALS
   */
  authenticateBy(
    appId: string,
    proves: Proof,
  ): Promise<{ readonly application: Application; readonly secret: Buffer }>;
  /** An application, whatever its status, whose client need not know the secret: its current one. @throws ApiError INVALID_APP_CREDENTIALS */
  withSecret(appId: string): Promise<{ readonly application: Application; readonly secret: Buffer }>;
  /**
   * An application as its programs find it, without its secret.
   * @throws ApiError APPLICATION_NOT_FOUND, APPLICATION_INACTIVE
   */
  usable(appId: string): Promise<Application>;
  /**
   * The handshake of a starting program.
   * @throws ApiError INVALID_APP_CREDENTIALS, APPLICATION_INACTIVE, INTEGRITY_FAILED, VPN_BLOCKED
   */
  init(request: {
    readonly appId: string;
    readonly secret: string;
    readonly version?: string | undefined;
    readonly executableHash?: string | undefined;
    readonly client: Client;
  }): Promise<Handshake>;
  /**
   * The application as it is now and stays until the caller's transaction ends: whoever changes, pauses or deletes it
   * comes before or after the transaction, never in between.
   * @throws ApiError INVALID_APP_CREDENTIALS when it was deleted, APPLICATION_INACTIVE
   */
  hold(trx: Knex.Transaction, appId: string): Promise<Application>;
  /** The same for an application of the developer, whatever its status. @throws ApiError APPLICATION_NOT_FOUND */
  holdOfDeveloper(trx: Knex.Transaction, developerId: string, appId: string): Promise<OwnApplication>;
  /** Says whether machines or networks are banned, inside the caller's transaction. */
  noteClientBans(trx: Knex.Transaction, appId: string, hasClientBans: boolean): Promise<void>;
  /** Holds an application of the developer alone: for what must come before or after every login. @throws ApiError APPLICATION_NOT_FOUND */
  lockOfDeveloper(trx: Knex.Transaction, developerId: string, appId: string): Promise<OwnApplication>;
  /** How many users are registered, in the caller's view of the database. */
  usersOf(db: Knex, appId: string): Promise<number>;
  /** Counts one more user, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeUserSeat(trx: Knex.Transaction, appId: string): Promise<void>;
  /** Counts so many users more, or none, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeUserSeats(trx: Knex.Transaction, appId: string, amount: number): Promise<void>;
  /** Counts one user less, inside the caller's transaction. */
  returnUserSeat(trx: Knex.Transaction, appId: string): Promise<void>;
  /** @throws ApiError QUOTA_EXCEEDED */
  create(actor: Actor, name: string): Promise<{ application: OwnApplication; secret: string }>;
  /** @throws ApiError APPLICATION_NOT_FOUND, also for another developer's */
  ofDeveloper(developerId: string, appId: string): Promise<OwnApplication>;
  list(developerId: string, page: PageRequest): Promise<Page<OwnApplication>>;
  /** @throws ApiError APPLICATION_NOT_FOUND; VALIDATION_FAILED when status and paused contradict each other */
  update(actor: Actor, appId: string, changes: ApplicationChanges): Promise<OwnApplication>;
  /** @throws ApiError APPLICATION_NOT_FOUND */
  delete(actor: Actor, appId: string): Promise<void>;
  /**
   * Gives an application a new secret. Which of its secrets are taken is decided by the database at every request: the new
   * one is when this returns, and a removed one is not any more, on every node.
   * @param overlapSeconds how long the current secret is taken too; one from an earlier rotation ends at once
   * @returns the new secret, which is shown once
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  rotateSecret(
    actor: Actor,
    appId: string,
    overlapSeconds: number,
  ): Promise<{ readonly secret: string; readonly previousSecretUntil: Date | null }>;
  /** Ends the overlap of the last rotation. @throws ApiError APPLICATION_NOT_FOUND, PREVIOUS_SECRET_NOT_FOUND */
  endSecretOverlap(actor: Actor, appId: string): Promise<void>;
  /** Deletes some secrets whose overlap is over. @returns how many */
  clearPreviousSecrets(): Promise<number>;
  /** The secret as the developer was shown it. @throws ApiError APPLICATION_NOT_FOUND */
  secretOf(developerId: string, appId: string): Promise<string>;
  /** The application that was deleted first, of those whose rows are still there. */
  nextDeleted(): Promise<string | undefined>;
  /** Deletes the last row of a deleted application. */
  forget(appId: string): Promise<void>;
  /** Seals some secrets anew under the current master key. @returns how many */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'takeApplicationSeat' | 'returnApplicationSeat'>;
  readonly events: Events;
  readonly vpn: Vpn;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export function createApplications(deps: Dependencies): Applications {
  const { knex, developers, events, vpn, keyring, clock, random, newId } = deps;
  const secrets = createApplicationSecrets({ keyring, clock, random });
  const toOwnApplication = (row: store.ApplicationWithUsage) => toOwnApplicationAt(row, clock.now());

  async function authenticateBy(appId: string, proves: Proof) {
    const { row, secret } = secrets.find(await store.findApplication(knex, appId), proves);
    return { application: toApplication(row), secret };
  }

  async function authenticate(appId: string, secret: string): Promise<Application> {
    const { application } = await authenticateBy(appId, (expected) => isSameSecret(expected, secret));
    assertUsable(application);
    return application;
  }

  async function required(
    row: Promise<store.ApplicationWithUsage | undefined>,
  ): Promise<store.ApplicationWithUsage> {
    const found = await row;
    if (!found) throw new ApiError('APPLICATION_NOT_FOUND');
    return found;
  }

  async function ofDeveloper(developerId: string, appId: string): Promise<OwnApplication> {
    return toOwnApplication(await required(store.findApplicationOfDeveloper(knex, developerId, appId)));
  }

  return {
    authenticate,
    authenticateBy,
    withSecret: (appId) => authenticateBy(appId, () => true),

    async usable(appId) {
      const row = await store.findApplication(knex, appId);
      if (!row) {
        throw new ApiError('APPLICATION_NOT_FOUND', { detail: 'There is no application with this app_id.' });
      }
      const application = toApplication(row);
      assertUsable(application);
      return application;
    },

    async init({ appId, secret, version, executableHash, client }) {
      const application = await authenticate(appId, secret);
      vpn.assertNone(application, client);
      if (application.integrityCheck) {
        const allowed = application.executableHashes.includes(executableHash?.toLowerCase() ?? '');
        if (!allowed) throw new ApiError('INTEGRITY_FAILED');
      }
      return {
        sessionId: random.bytes(16).toString('base64url'),
        name: application.name,
        statusCode: handshakeStatus(application, version),
        downloadUrl: application.downloadUrl,
      };
    },

    async hold(trx, appId) {
      return toUsableApplication(await store.holdApplication(trx, appId));
    },

    async holdOfDeveloper(trx, developerId, appId) {
      return toOwnApplication(await required(store.holdApplicationOfDeveloper(trx, developerId, appId)));
    },

    async lockOfDeveloper(trx, developerId, appId) {
      return toOwnApplication(await required(store.lockApplicationOfDeveloper(trx, developerId, appId)));
    },

    noteClientBans: (trx, appId, hasClientBans) =>
      store.updateApplication(trx, appId, { has_client_bans: hasClientBans }),

    usersOf: (db, appId) => store.countUsers(db, appId),

    async takeUserSeat(trx, appId) {
      if (await store.takeUserSeat(trx, appId)) return;
      throw new ApiError('QUOTA_EXCEEDED', { detail: "The developer's plan has no room for another user." });
    },

    async takeUserSeats(trx, appId, amount) {
      if (await seats.takeUserSeats(trx, appId, amount)) return;
      throw new ApiError('QUOTA_EXCEEDED', {
        detail: `The developer's plan has no room for ${amount} more users.`,
      });
    },

    returnUserSeat: seats.returnUserSeat,

    async create(actor, name) {
      const { developerId } = actor;
      const secret = secrets.make();
      const appId = newId('app');
      const now = clock.now();
      const row = await knex.transaction(async (trx) => {
        await developers.takeApplicationSeat(trx, developerId);
        await store.insertApplication(trx, {
          app_id: appId,
          developer_id: developerId,
          name,
          secret_sealed: secrets.seal(appId, secret),
          created_at: now,
          updated_at: now,
        });
        await events.record(trx, { type: 'application.created', appId, data: { name }, actor });
        return required(store.findApplicationOfDeveloper(trx, developerId, appId));
      });
      return { application: toOwnApplication(row), secret };
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
        throw invalidMember('/minimum_version', 'must be a version by Semantic Versioning 2.0.0');
      }
      return knex.transaction(async (trx) => {
        const row = await required(store.lockApplicationOfDeveloper(trx, developerId, appId));
        const now = clock.now();
        const before = toApplication(row);
        const after = changeStatus(before, status ?? fromSwitch ?? before.status, now);
        await store.updateApplication(trx, appId, {
          ...toColumns(settings),
          status: after.status,
          paused_at: after.pausedAt,
          paused_total_ms: after.pausedTotalMs,
          updated_at: now,
        });
        const changed = Object.keys(toColumns(settings));
        const change = { appId, data: { status_code: after.status, changed }, actor };
        await events.record(trx, { type: eventOf(before.status, after.status), ...change });
        return toOwnApplication(await required(store.findApplicationOfDeveloper(trx, developerId, appId)));
      });
    },

    async delete(actor, appId) {
      const { developerId } = actor;
      await knex.transaction(async (trx) => {
        await required(store.lockApplicationOfDeveloper(trx, developerId, appId));
        await store.updateApplication(trx, appId, { deleted_at: clock.now() });
        await developers.returnApplicationSeat(trx, developerId);
        await events.record(trx, { type: 'application.deleted', appId, actor });
      });
    },

    async secretOf(developerId, appId) {
      const row = await required(store.findApplicationOfDeveloper(knex, developerId, appId));
      return secrets.open(row).toString();
    },

    async rotateSecret(actor, appId, overlapSeconds) {
      const secret = secrets.make();
      const previousSecretUntil = await knex.transaction(async (trx) => {
        await required(store.lockApplicationOfDeveloper(trx, actor.developerId, appId));
        const now = clock.now();
        const until = overlapSeconds === 0 ? null : new Date(now.getTime() + overlapSeconds * 1000);
        await store.replaceSecret(trx, appId, secrets.seal(appId, secret), until, now);
        const data = { overlap_seconds: overlapSeconds, previous_secret_until: until?.toISOString() ?? null };
        await events.record(trx, { type: 'application.secret_rotated', appId, data, actor });
        return until;
      });
      return { secret, previousSecretUntil };
    },

    async endSecretOverlap(actor, appId) {
      await knex.transaction(async (trx) => {
        const row = await required(store.lockApplicationOfDeveloper(trx, actor.developerId, appId));
        const now = clock.now();
        if (!isTakenUntil(row.previous_secret_until, now)) throw new ApiError('PREVIOUS_SECRET_NOT_FOUND');
        await store.updateApplication(trx, appId, {
          previous_secret_sealed: null,
          previous_secret_until: null,
          updated_at: now,
        });
        await events.record(trx, { type: 'application.secret_overlap_ended', appId, actor });
      });
    },

    clearPreviousSecrets: () => store.clearPreviousSecrets(knex, clock.now(), CLEARED_AT_ONCE),

    nextDeleted: () => store.findDeletedApplication(knex),
    forget: (appId) => store.forgetApplication(knex, appId),

    reseal: store.createSecretResealer(knex, keyring, secretContext),
  };
}

/** What a change of an application is called. */
function eventOf(before: ApplicationStatus, after: ApplicationStatus): EventType {
  if (before === after) return 'application.updated';
  if (after === 'paused') return 'application.paused';
  if (after === 'disabled') return 'application.disabled';
  return before === 'paused' ? 'application.resumed' : 'application.enabled';
}

function handshakeStatus(application: Application, version: string | undefined): Handshake['statusCode'] {
  if (application.status === 'paused') return 'paused';
  if (version !== undefined && application.minimumVersion && isBelow(version, application.minimumVersion)) {
    return 'update_required';
  }
  return 'active';
}

function toUsableApplication(row: store.ApplicationRow | undefined): Application {
  if (!row) throw new ApiError('INVALID_APP_CREDENTIALS');
  const application = toApplication(row);
  assertUsable(application);
  return application;
}

function assertUsable({ status }: Application): void {
  if (status === 'disabled') throw new ApiError('APPLICATION_INACTIVE');
}
