import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import * as store from './ban-store.ts';

/** The subject of a ban. */
export type Banned =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'hardware'; readonly hwidDigest: Buffer; readonly userId: string | null }
  | { readonly kind: 'network'; readonly network: string };

/** The reason and the end. */
export interface Terms {
  readonly reason: string | null;
  /** Null if the ban has no end and must be lifted. */
  readonly expiresAt: Date | null;
}

export interface Ban {
  readonly banId: string;
  readonly kind: store.BanKind;
  /** The user who is banned, or whose machine is banned. */
  readonly userId: string | null;
  /** In CIDR form. */
  readonly network: string | null;
  readonly reason: string | null;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
}

export interface Bans {
  /**
   * Refuses clients that are banned from an application.
   * @param db a transaction that holds the application and the user, if no ban may be created in between
   * @throws ApiError USER_BANNED, HWID_BANNED, ADDRESS_BANNED
   */
  assertNone(db: Knex, appId: string, subject: store.Subject): Promise<void>;
  /**
   * Checks many clients of an application for bans of machines and networks, in one statement.
   * @returns the refusals in the order of the clients; undefined for clients that are not banned
   */
  findRefusals(appId: string, clients: readonly store.BannableClient[]): Promise<(ApiError | undefined)[]>;
  /**
   * Adds a ban inside the caller's transaction, which locks the user to ban, or for the other kinds the application.
   */
  add(trx: Knex.Transaction, appId: string, banned: Banned, terms: Terms): Promise<Ban>;
  list(appId: string, page: PageRequest): Promise<Page<Ban>>;
  /** The bans in force of users; if a user has several, the last one. */
  inForceOf(userIds: readonly string[]): Promise<Map<string, Ban>>;
  /**
   * Bans a user inside the caller's transaction, which locks the user or the application. Bans already in force are
   * merged into one with these terms.
   */
  setOfUser(trx: Knex.Transaction, appId: string, userId: string, terms: Terms): Promise<Ban>;
  /** The same for many users, in a few statements. @returns the ban of each */
  setOfUsers(
    trx: Knex.Transaction,
    appId: string,
    userIds: readonly string[],
    terms: Terms,
  ): Promise<ReadonlyMap<string, Ban>>;
  /** Removes users' bans in force inside the caller's transaction, which locks the users. @returns these bans */
  removeOfUsers(trx: Knex.Transaction, userIds: readonly string[]): Promise<Ban[]>;
  /** Detaches bans of machines from users that the caller's transaction deletes; the bans stay in force. */
  forgetUsers(trx: Knex.Transaction, userIds: readonly string[]): Promise<void>;
  /** The subject of a ban; undefined if it was lifted or has expired. */
  find(appId: string, banId: string): Promise<Banned | undefined>;
  /**
   * Removes a ban inside the caller's transaction, which holds the application exclusively.
   * @returns the removed ban
   * @throws ApiError BAN_NOT_FOUND
   */
  remove(trx: Knex.Transaction, appId: string, banId: string): Promise<Ban>;
}

const CODES = { user: 'USER_BANNED', hardware: 'HWID_BANNED', network: 'ADDRESS_BANNED' } as const;

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'setHasClientBans'>;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createBans({ knex, applications, clock, newId }: Dependencies): Bans {
  async function add(
    trx: Knex.Transaction,
    appId: string,
    banned: Banned,
    { reason, expiresAt }: Terms,
  ): Promise<Ban> {
    const row = toRow(appId, banned, { reason, expiresAt });
    await store.insertBans(trx, [row]);
    if (banned.kind !== 'user') await applications.setHasClientBans(trx, appId, true);
    return toBan(row);
  }

  function toRow(appId: string, banned: Banned, { reason, expiresAt }: Terms): store.BanRow {
    return {
      ban_id: newId('ban'),
      app_id: appId,
      kind: banned.kind,
      user_id: banned.kind === 'network' ? null : banned.userId,
      hwid_digest: banned.kind === 'hardware' ? banned.hwidDigest : null,
      network: banned.kind === 'network' ? banned.network : null,
      reason,
      expires_at: expiresAt,
      created_at: clock.now(),
    };
  }

  async function setOfUsers(
    trx: Knex.Transaction,
    appId: string,
    userIds: readonly string[],
    terms: Terms,
  ): Promise<ReadonlyMap<string, Ban>> {
    const before = await store.deleteBansOfUsers(trx, userIds, clock.now());
    // The last one of each user, because they are in order.
    const kept = new Map(before.map((row) => [row.user_id, row]));
    const { reason, expiresAt } = terms;
    const rows = userIds.map((userId) => ({
      ...(kept.get(userId) ?? toRow(appId, { kind: 'user', userId }, terms)),
      reason,
      expires_at: expiresAt,
    }));
    await store.insertBans(trx, rows);
    return new Map(rows.map((row) => [row.user_id!, toBan(row)]));
  }

  return {
    async assertNone(db, appId, subject) {
      const kind = await store.findBanKind(db, appId, subject, clock.now());
      if (kind) throw new ApiError(CODES[kind]);
    },

    async findRefusals(appId, clients) {
      const { machines, addresses } = await store.findBannedClients(knex, appId, clients, clock.now());
      const [network, hardware] = [new ApiError(CODES.network), new ApiError(CODES.hardware)];
      return clients.map(({ hwidDigest, address }) => {
        // In the order of `assertNone`.
        if (addresses.has(address)) return network;
        return machines.has(hwidDigest.toString('hex')) ? hardware : undefined;
      });
    },

    add,

    async list(appId, request) {
      const page = await readPage(
        request,
        'ban',
        (row: store.BanRow) => row.ban_id,
        (range) => store.listBans(knex, appId, range),
      );
      return { data: page.data.map(toBan), nextCursor: page.nextCursor };
    },

    async inForceOf(userIds) {
      const rows = await store.findBansOfUsers(knex, userIds, clock.now());
      return new Map(rows.map((row) => [row.user_id!, toBan(row)]));
    },

    async setOfUser(trx, appId, userId, terms) {
      return (await setOfUsers(trx, appId, [userId], terms)).get(userId)!;
    },

    setOfUsers,

    async removeOfUsers(trx, userIds) {
      return (await store.deleteBansOfUsers(trx, userIds, clock.now())).map(toBan);
    },

    forgetUsers: store.forgetUsers,

    async find(appId, banId) {
      const row = await store.findBan(knex, appId, banId);
      if (!row || (row.expires_at && row.expires_at <= clock.now())) return undefined;
      const { kind, user_id: userId } = row;
      if (kind === 'network') return { kind, network: row.network! };
      if (kind === 'hardware') return { kind, hwidDigest: row.hwid_digest!, userId };
      return { kind, userId: userId! };
    },

    async remove(trx, appId, banId) {
      const row = await store.deleteBan(trx, appId, banId);
      if (!row) throw new ApiError('BAN_NOT_FOUND');
      await applications.setHasClientBans(trx, appId, await store.hasClientBans(trx, appId));
      return toBan(row);
    },
  };
}

function toBan(row: store.BanRow): Ban {
  return {
    banId: row.ban_id,
    kind: row.kind,
    userId: row.user_id,
    network: row.network,
    reason: row.reason,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
  };
}
