import type { Knex } from 'knex';
import type { Application } from '../../accounts/applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import type { Clock } from '../../platform/clock.ts';
import { standing, timelinesOf } from '../subscriptions/subscriptions.ts';
import * as store from './user-search-store.ts';
import { usernamePrefix } from './username.ts';

/** A trigram index cannot find shorter texts. */
const SHORTEST_PART = 3;

/** How well a text matches: 0 exactly, 1 at the beginning, 2 somewhere. */
export type Rank = 0 | 1 | 2;

export interface FoundUser {
  readonly userId: string;
  readonly appId: string;
  readonly username: string;
  readonly email: string | null;
  readonly match: 'id' | 'username' | 'email';
  readonly rank: Rank;
  readonly state: 'banned' | 'active' | 'expired' | 'none';
  /** The tier in force. */
  readonly tier: string | null;
}

/** Finds users of many applications. */
export interface UserSearch {
  /**
   * Users by id, by a part of the name (its beginning, if the text is short), or by the beginning of the address.
   * @returns up to `limit` users, the best matches first, and whether these are all
   */
  search(
    applications: ReadonlyMap<string, Application>,
    text: string,
    limit: number,
  ): Promise<{ readonly users: readonly FoundUser[]; readonly isComplete: boolean }>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly bans: Pick<Bans, 'inForceOf'>;
  readonly clock: Clock;
}

export function createUserSearch({ knex, bans, clock }: Dependencies): UserSearch {
  type Matches = Map<string, Pick<FoundUser, 'match' | 'rank'> & { readonly row: store.FoundRow }>;

  /** Finds users by several indexes, from the best kind of match to the worst, until there are enough. */
  async function find(appIds: readonly string[], text: string, limit: number) {
    const found: Matches = new Map();
    const part = usernamePrefix(text).trimEnd();
    function add(rows: readonly store.FoundRow[], match: FoundUser['match'], rank: Rank): void {
      for (const row of rows) {
        const isExact = match === 'username' && row.username_key === part;
        if (!found.has(row.user_id)) found.set(row.user_id, { row, match, rank: isExact ? 0 : rank });
      }
    }
    const named = await store.findById(knex, appIds, text);
    if (named) add([named], 'id', 0);
    if (part === '') return { found, isComplete: true };
    const wanted = limit + 1;
    const byName = { column: 'username', prefix: part } as const;
    const byEmail = { column: 'email', prefix: text.toLowerCase() } as const;
    add(await store.findByPrefix(knex, appIds, byName, wanted), 'username', 1);
    add(await store.findByPrefix(knex, appIds, byEmail, wanted), 'email', 1);
    if (found.size > limit || [...part].length < SHORTEST_PART) return { found, isComplete: true };
    // Where many names contain the part, the newest ones have it too, and the whole index need not be read.
    add(await store.findInNewest(knex, appIds, part, wanted), 'username', 2);
    if (found.size > limit) return { found, isComplete: true };
    const rows = await store.findByPart(knex, appIds, part, wanted);
    add(rows ?? [], 'username', 2);
    return { found, isComplete: rows !== undefined };
  }

  return {
    async search(applications, text, limit) {
      const { found, isComplete } = await find([...applications.keys()], text.trim(), limit);
      const best = [...found.values()].sort((a, b) => a.rank - b.rank).slice(0, limit);
      const userIds = best.map(({ row }) => row.user_id);
      const timelines = await timelinesOf(knex, userIds);
      const banned = await bans.inForceOf(userIds);
      const now = clock.now();
      const users = best.map(({ row, match, rank }): FoundUser => {
        const status = standing(timelines.get(row.user_id) ?? [], applications.get(row.app_id)!, now);
        return {
          userId: row.user_id,
          appId: row.app_id,
          username: row.username,
          email: row.email,
          match,
          rank,
          state: banned.has(row.user_id) ? 'banned' : status.status,
          tier: status.status === 'active' ? status.tier : null,
        };
      });
      return { users, isComplete: isComplete && found.size <= limit };
    },
  };
}
