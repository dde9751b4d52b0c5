import type { Knex } from 'knex';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import { canonicalLicenseKey, type LicenseHolder, type Licenses } from '../licenses/licenses.ts';
import type { Limits } from '../../foundation/limits/limits.ts';
import type { Passwords } from '../../foundation/passwords/passwords.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Devices } from '../devices/devices.ts';
import type { PreparedSession, Sessions, TokenForm } from '../sessions/sessions.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import { atAddress, type Credentials } from './credentials.ts';
import type { LoginQueue } from './login-queue.ts';
import { assertSameMachine, assertVisible, isSameMachine, type Origin } from './machines.ts';
import { assertOpen, createSessionOpening } from './session-opening.ts';
import * as store from './user-store.ts';
import { usernameKey } from './username.ts';

export interface Login {
  readonly session: PreparedSession;
  readonly user: { readonly userId: string; readonly username: string; readonly role: string };
}

/** The client of a login. */
interface Machine {
  readonly hwid: string;
  /** The version of the program. */
  readonly version?: string | undefined;
}

export interface Logins {
  /**
   * Verifies a password and opens a session on one machine.
   * @param trust of the request: the session is bound to its device
   * @throws ApiError APPLICATION_INACTIVE, APPLICATION_PAUSED, DEVICE_MISMATCH, VPN_BLOCKED, HWID_BANNED,
   *   ADDRESS_BANNED, TOO_MANY_REQUESTS, INVALID_CREDENTIALS; after the password was verified USER_BANNED,
   *   HWID_MISMATCH, SUBSCRIPTION_EXPIRED
   */
  withPassword(
    application: Application,
    credentials: { readonly username: string; readonly password: string } & Machine,
    form: TokenForm,
    client: Client,
    trust?: ClientTrust,
  ): Promise<Login>;
  /**
   * Opens a session of the user who redeemed a key. An unused key is redeemed for a new user without a password.
   * @throws ApiError APPLICATION_INACTIVE, APPLICATION_PAUSED, VPN_BLOCKED, USER_BANNED, HWID_BANNED, ADDRESS_BANNED,
   *   LICENSE_NOT_FOUND, LICENSE_UNUSABLE, HWID_MISMATCH, SUBSCRIPTION_EXPIRED, QUOTA_EXCEEDED, TOO_MANY_REQUESTS
   */
  withLicense(
    application: Application,
    credentials: { readonly licenseKey: string } & Machine,
    form: TokenForm,
    client: Client,
    trust?: ClientTrust,
  ): Promise<Login>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly licenses: Licenses;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly devices: Pick<Devices, 'assertMachine' | 'recordLogin'>;
  readonly loginQueue: LoginQueue;
  readonly passwords: Pick<Passwords, 'assertCapacity'>;
  readonly credentials: Credentials;
  readonly limits: Limits;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createLogins(deps: Dependencies): Logins {
  const { knex, applications, licenses, events, sessions, devices, passwords, credentials, limits } = deps;
  const { bans, vpn, keys } = deps;
  const { clock, newId, loginQueue: queue } = deps;
  const opening = createSessionOpening(deps);
  const transaction = (account: string, work: (trx: Knex.Transaction) => Promise<void>) =>
    queue.run(account, () => knex.transaction(work));

  function originOf(
    appId: string,
    { hwid, version }: { readonly hwid: string; readonly version: string | null },
    client: Client,
    trust: ClientTrust | undefined,
  ): Origin {
    const deviceId = trust?.device?.deviceId ?? null;
    return { hwid, hwidDigest: keys.hwidDigest(appId, hwid), version, client, deviceId };
  }

  /**
   * Refuses clients by application, address and machine, before any lookup or hashing. The account of a refused
   * login is looked up for the log, except when the service is too busy.
   */
  async function assertAdmissible(
    application: Application,
    { hwidDigest, client }: Origin,
    assertCapacity: () => void,
    findAccount: () => Promise<unknown>,
  ): Promise<void> {
    try {
      assertOpen(application);
      assertCapacity();
      vpn.assertNone(application, client);
      await bans.assertNone(knex, application.appId, { hwidDigests: [hwidDigest], address: client.address });
    } catch (error) {
      // A failed lookup must not hide the reason of the refusal.
      if (error instanceof ApiError && error.status !== 429) await findAccount().catch(() => {});
      throw error;
    }
  }

  /** Creates the user of an unused key, and opens the session in the same transaction. */
  async function beginAsNewUser(
    application: Application,
    licenseKey: string,
    origin: Origin,
    form: TokenForm,
  ): Promise<Login> {
    const { appId } = application;
    assertVisible(origin);
    const created = newLicenseUser(appId, newId('usr'), origin.hwidDigest, clock.now());
    const userId = created.user_id;
    const session = await sessions.prepare(appId, userId, form);
    await transaction(ofKey(appId, licenseKey), async (trx) => {
      const current = await opening.lockOpenForShare(trx, appId);
      await store.insertUser(trx, created);
      await events.record(trx, { type: 'user.created', appId, userId, data: { username: created.username } });
      const { licenseId } = await licenses.redeem(trx, current, userId, licenseKey);
      await store.setLicense(trx, userId, licenseId);
      await opening.begin(trx, current, created, origin, session);
      // Last, because every registration of the application waits for this row.
      await applications.takeUserSeat(trx, appId);
    });
    return toLogin(created, session);
  }

  /** Opens a session of the user who redeemed a key. */
  async function beginAsHolder(
    application: Application,
    licenseKey: string,
    holder: LicenseHolder,
    origin: Origin,
    form: TokenForm,
  ): Promise<Login> {
    const { appId } = application;
    const user = await store.findUserById(knex, holder.userId);
    if (!user) throw new ApiError('LICENSE_NOT_FOUND');
    if (user.license_id !== holder.licenseId) await assertOwnMachine(user, origin);
    await assertMachineMayWait(application, user, origin);
    const session = await sessions.prepare(appId, user.user_id, form);
    await transaction(ofKey(appId, licenseKey), async (trx) => {
      const current = await opening.lockOpenForShare(trx, appId);
      const locked = await store.lockUserForUpdate(trx, user.user_id);
      const held = await licenses.holderOf(trx, current, licenseKey);
      if (!locked || held?.userId !== user.user_id) throw new ApiError('LICENSE_NOT_FOUND');
      if (user.license_id !== holder.licenseId) assertSameMachine(locked.hwid_digest, origin.hwidDigest);
      await opening.begin(trx, current, locked, origin, session);
    });
    return toLogin(user, session);
  }

  /**
   * Any holder of a key can redeem it for another account. The key then opens that account only on the account's
   * machine, and must not be used to try machines. Failures do not count for the right machine, so that other clients
   * behind its address cannot lock it out.
   */
  async function assertOwnMachine(user: store.UserRow, origin: Origin): Promise<void> {
    if (isSameMachine(user.hwid_digest, origin.hwidDigest)) return;
    await limits.countFailure([atAddress(user.app_id, user.user_id, origin.client)]);
    throw new ApiError('HWID_MISMATCH');
  }

  /**
   * Refuses a machine that could not log in anyway before it enters the queue: if hardware is locked, the queue of an
   * account is only for its own machine.
   */
  async function assertMachineMayWait(
    { appId, hwidLock }: Application,
    user: store.UserRow,
    { hwidDigest, client }: Origin,
  ): Promise<void> {
    if (!hwidLock || user.hwid_digest === null || isSameMachine(user.hwid_digest, hwidDigest)) return;
    const { user_id: userId } = user;
    await bans.assertNone(knex, appId, { userId, hwidDigests: [hwidDigest], address: client.address });
    throw new ApiError('HWID_MISMATCH');
  }

  return {
    async withPassword(application, { username, password, hwid, version = null }, form, client, trust) {
      const { appId } = application;
      devices.assertMachine(appId, hwid, trust);
      const origin = originOf(appId, { hwid, version }, client, trust);
      const assertCapacity = () => {
        passwords.assertCapacity();
        queue.assertCapacity(ofName(appId, username));
      };
      await assertAdmissible(application, origin, assertCapacity, () => credentials.find(appId, username));
      const user = await credentials.check(appId, { username, password }, origin);
      await assertMachineMayWait(application, user, origin);
      const session = await sessions.prepare(appId, user.user_id, form);
      await transaction(ofName(appId, username), async (trx) => {
        const current = await opening.lockOpenForShare(trx, appId);
        const held = await credentials.lockForUpdate(trx, user);
        await opening.begin(trx, current, held, origin, session);
      });
      return toLogin(user, session);
    },

    async withLicense(application, { licenseKey, hwid, version = null }, form, client, trust) {
      devices.assertMachine(application.appId, hwid, trust);
      const origin = originOf(application.appId, { hwid, version }, client, trust);
      const assertCapacity = () => queue.assertCapacity(ofKey(application.appId, licenseKey));
      await assertAdmissible(application, origin, assertCapacity, () =>
        licenses.holderOf(knex, application, licenseKey),
      );
      const attempt = async () => {
        const holder = await licenses.holderOf(knex, application, licenseKey);
        return holder
          ? beginAsHolder(application, licenseKey, holder, origin, form)
          : beginAsNewUser(application, licenseKey, origin, form);
      };
      // It may be redeemed in the meantime; then it has a holder.
      return attempt()
        .catch(ifUsed(attempt))
        .catch(
          ifUsed(() => {
            throw new ApiError('LICENSE_UNUSABLE', { detail: 'The user who redeemed the key was deleted.' });
          }),
        );
    },
  };
}

function toLogin({ user_id, username, role }: store.UserRow, session: PreparedSession): Login {
  return { session, user: { userId: user_id, username, role } };
}

/** The key of the login queue: a user has one for the username and one for each license key. */
function ofName(appId: string, username: string): string {
  return ['name', appId, usernameKey(username)].join('\0');
}

function ofKey(appId: string, licenseKey: string): string {
  return ['key', appId, canonicalLicenseKey(licenseKey)].join('\0');
}

/** Handles a key that was used meanwhile; any other error is rethrown. */
function ifUsed(next: () => Promise<Login>): (error: unknown) => Promise<Login> {
  return async (error) => {
    if (error instanceof ApiError && error.code === 'LICENSE_ALREADY_USED') return next();
    throw error;
  };
}

/** A user without a password, whose username is the user id. */
function newLicenseUser(appId: string, userId: string, hwidDigest: Buffer, createdAt: Date): store.UserRow {
  return {
    user_id: userId,
    app_id: appId,
    username: userId,
    username_key: usernameKey(userId),
    username_look: null,
    email: null,
    role: 'user',
    password_hash: null,
    license_id: null,
    hwid_digest: hwidDigest,
    created_at: createdAt,
    hwid_reset_at: null,
    password_version: 0,
  };
}
