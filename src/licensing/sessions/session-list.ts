import type { Knex } from 'knex';
import { LIFETIME } from '../../accounts/applications/application-state.ts';
import { readOrderedPage, type Page, type PageRequest, type Places } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import { clearCounts, countLiveSessionsOfApplications, foldChanges } from './session-count-store.ts';
import * as store from './session-list-store.ts';
import { digestBeginning, toSessionRef } from './session-ref.ts';

/** Length of the shortened digest of a machine. */
const MACHINE_LABEL_BYTES = 4;
const FOLDED_AT_ONCE = 2000;

/** A live session without its credentials. */
export interface LiveSession {
  readonly sessionRef: string;
  readonly userId: string;
  readonly beganAt: Date;
  readonly expiresAt: Date;
  /** When it began or was last verified, accurate to some minutes. */
  readonly lastSeenAt: Date;
  /** Distinguishes the machines of one application. */
  readonly machine: string;
  readonly version: string | null;
  readonly address: string | null;
}

/** Lists of live sessions, and their numbers. */
export interface SessionList {
  /** The live sessions of an application, newest first. */
  listLive(appId: string, page: PageRequest): Promise<Page<LiveSession>>;
  /** A user's sessions that have neither ended nor expired, the oldest first. */
  liveOf(userId: string): Promise<LiveSession[]>;
  /** How many sessions of each of many applications are live at a time, exactly, by application. */
  countLiveOfApplications(
    db: Knex,
    appIds: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, number>>;
  /** How many live sessions each of many users has; users without any are omitted. */
  countLive(userIds: readonly string[]): Promise<Map<string, number>>;
  /** Adds a batch of changes to the counts of live sessions, or deletes past ones. @returns how many */
  foldCounts(): Promise<number>;
}

const PLACE = /^(\d{1,15}) (\S+)$/;

/** The places of sessions in the order of a list: when a session expires, and its reference. */
const places: Places<store.ListedSession> = {
  of: ({ expires_at, session_digest }) => `${expires_at.getTime()} ${toSessionRef(session_digest)}`,
  has: (text) => toPlace(text) !== undefined,
};

function toPlace(text: string): store.SessionPlace | undefined {
  const [, expiresAt, ref] = PLACE.exec(text) ?? [];
  const digest = ref === undefined ? undefined : digestBeginning(ref);
  return digest && Number(expiresAt) <= LIFETIME.getTime()
    ? { expiresAt: new Date(Number(expiresAt)), digest }
    : undefined;
}

export function createSessionList({
  knex,
  clock,
}: {
  readonly knex: Knex;
  readonly clock: Clock;
}): SessionList {
  return {
    async listLive(appId, request) {
      const page = await readOrderedPage(request, places, ({ after, limit }) =>
        store.listLiveSessions(knex, appId, clock.now(), {
          after: after === undefined ? undefined : toPlace(after),
          limit,
        }),
      );
      return { data: page.data.map(toLiveSession), nextCursor: page.nextCursor };
    },

    async liveOf(userId) {
      return (await store.listLiveSessionsOfUser(knex, userId, clock.now())).map(toLiveSession);
    },

    countLiveOfApplications: countLiveSessionsOfApplications,

    async foldCounts() {
      const folded = await knex.transaction((trx) => foldChanges(trx, FOLDED_AT_ONCE));
      // A minute may have counts of sessions that expire up to its end.
      const past = new Date(clock.now().getTime() - 60_000);
      return folded || clearCounts(knex, past, FOLDED_AT_ONCE);
    },

    countLive: (userIds) => store.countLiveSessions(knex, userIds, clock.now()),
  };
}

function toLiveSession(row: store.ListedSession): LiveSession {
  return {
    sessionRef: toSessionRef(row.session_digest),
    userId: row.user_id,
    beganAt: row.created_at,
    expiresAt: row.expires_at,
    lastSeenAt: row.last_seen_at ?? row.created_at,
    machine: row.hwid_digest.toString('hex', 0, MACHINE_LABEL_BYTES),
    version: row.version,
    address: row.address,
  };
}
