import type { Knex } from 'knex';
import type { Applications, OwnApplication } from '../../accounts/applications/applications.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Bulk } from '../../foundation/bulk/bulk.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import { isVisibleName, NAME_FAULT } from '../../foundation/names/names.ts';
import { importFault } from '../../foundation/passwords/passwords.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import { endsOfFirst, grantFirst } from '../subscriptions/subscriptions.ts';
import {
  LineFaults,
  readCsv,
  readJsonLines,
  textOf,
  type Line,
} from '../../foundation/tabular-data/tabular-data.ts';
import { emailFault, readGrant, type ImportedGrant } from './import-state.ts';
import * as store from './user-bulk-store.ts';
import { newUsername, type NewUsername } from './username.ts';

export type ImportFormat = 'text/csv' | 'application/x-ndjson';

const MAX_USERS = 50_000;
const MAX_USERNAME_CHARACTERS = 64;
const MAX_ROLE_CHARACTERS = 32;
/** Users per statement. */
const SLICE = 1000;
/** The default role. */
const DEFAULT_ROLE = 'user';
/** The columns of an import, and whether they are required. The last three are those of an export that are ignored. */
const COLUMNS = {
  username: true,
  email: false,
  role: false,
  password_hash: false,
  tier: false,
  days: false,
  expires_at: false,
  banned: false,
  user_id: false,
  hwid_bound: false,
  created_at: false,
};

/** The columns whose JSON may be a number or a boolean. */
const SCALARS = ['days', 'banned', 'hwid_bound'] as const;

export interface UserImports {
  /**
   * Creates users of another system, with their password hashes and first subscriptions: all of them or none.
   * @param upload in the format, up to 50,000 users
   * @returns how many
   * @throws ApiError APPLICATION_NOT_FOUND, QUOTA_EXCEEDED, TOO_MANY_REQUESTS; MALFORMED_REQUEST for invalid UTF-8,
   *   VALIDATION_FAILED with every faulty line, USERNAME_TAKEN with every line whose name is taken
   */
  import(
    actor: Actor,
    appId: string,
    upload: AsyncIterable<Uint8Array>,
    format: ImportFormat,
  ): Promise<number>;
}

interface Dependencies {
  readonly applications: Applications;
  readonly events: Events;
  readonly bulk: Bulk;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** A user of an import line. */
interface Imported {
  readonly line: number;
  readonly row: store.ImportedRow;
  readonly grant: ImportedGrant | undefined;
}

export function createUserImports(deps: Dependencies): UserImports {
  const { applications, events, bulk, clock, newId } = deps;

  function readUser(
    { line, cells }: Line<keyof typeof COLUMNS>,
    { tiers }: OwnApplication,
  ): Imported | string {
    const { username, email, role, password_hash: hash } = cells;
    if (username === undefined) return 'username is missing';
    const names = namesOf(username);
    if ('fault' in names) return names.fault;
    const fault =
      banFault(cells.banned) ??
      (email && emailFault(email)) ??
      (role && roleFault(role)) ??
      (hash && hashFault(hash)) ??
      undefined;
    if (fault) return fault;
    const subscription = readGrant(cells, tiers, clock.now());
    if ('fault' in subscription) return subscription.fault;
    const row = {
      user_id: newId('usr'),
      ...names,
      email: email ?? null,
      role: role ?? DEFAULT_ROLE,
      password_hash: hash ?? null,
    };
    return { line, row, grant: subscription.grant };
  }

  /** @throws ApiError MALFORMED_REQUEST, VALIDATION_FAILED */
  async function readUsers(
    bytes: readonly Uint8Array[],
    format: ImportFormat,
    application: OwnApplication,
  ): Promise<Imported[]> {
    const text = textOf(bytes);
    const lines = format === 'text/csv' ? readCsv(text, COLUMNS) : readJsonLines(text, COLUMNS, SCALARS);
    const users: Imported[] = [];
    const lineOf = new Map<string, number>();
    const lineOfLook = new Map<string, number>();
    const faults = new LineFaults();
    for await (const each of lines) {
      if (users.length + faults.lines >= MAX_USERS) {
        faults.add(each.line, `is beyond the ${MAX_USERS} users that an import may have`);
        break;
      }
      const user = 'fault' in each ? each.fault : readUser(each, application);
      if (typeof user === 'string') {
        faults.add(each.line, user);
        continue;
      }
      const { username_key: key, username_look: look } = user.row;
      const before = lineOf.get(key);
      if (before !== undefined) {
        faults.add(user.line, `username is that of line ${before}`);
        continue;
      }
      const like = lineOfLook.get(look ?? key);
      if (like !== undefined) {
        faults.add(user.line, `username looks like that of line ${like}`);
        continue;
      }
      lineOf.set(key, user.line);
      lineOfLook.set(look ?? key, user.line);
      users.push(user);
    }
    if (users.length === 0 && faults.lines === 0) faults.add(1, 'is missing: the import contains no users');
    faults.throwAny();
    return users;
  }

  async function insert(
    trx: Knex.Transaction,
    actor: Actor,
    appId: string,
    users: readonly Imported[],
  ): Promise<void> {
    const now = clock.now();
    const taken = new LineFaults();
    // It may be paused before it is locked: the trigger of the column then corrects these ends.
    const before = await applications.ofDeveloper(actor.developerId, appId);
    for (const chunk of chunksOf(users)) {
      const ends = endsOfFirst(grantsOf(chunk), before, now);
      const inserted = await store.insertImported(
        trx,
        appId,
        chunk.map(({ row }) => ({ ...row, subscription_ends_at: ends.get(row.user_id) })),
        now,
      );
      for (const { line, row } of chunk) {
        if (!inserted.has(row.username_key)) taken.add(line, 'username is taken');
      }
    }
    taken.throwAny('USERNAME_TAKEN');
    // Locked only now, so that a pause or a deletion waits only for the rest.
    const application = await applications.lockRowOfDeveloperForShare(trx, actor.developerId, appId);
    if (users.some(({ grant }) => grant && !application.tiers.includes(grant.tier))) {
      throw new ApiError('VALIDATION_FAILED', {
        detail: 'The tiers of the application changed during the import.',
      });
    }
    for (const chunk of chunksOf(users)) {
      await grantFirst(trx, grantsOf(chunk), application, now);
    }
    const data = {
      amount: users.length,
      first_user_id: users[0]!.row.user_id,
      last_user_id: users.at(-1)!.row.user_id,
    };
    await events.record(trx, { type: 'user.imported', appId, data, actor });
    // Last, because every registration of the application waits for this row.
    await applications.takeUserSeats(trx, appId, users.length);
  }

  return {
    async import(actor, appId, upload, format) {
      const application = await applications.ofDeveloper(actor.developerId, appId);
      return bulk.admit(actor.developerId, async () => {
        // Before the bulk slot is taken, so that a slow client does not block others.
        const bytes = await Array.fromAsync(upload);
        return bulk.enqueue(async () => {
          // In the bulk slot, because parsed users need far more memory than their lines; and before the transaction,
          // which the database would end as idle.
          const users = await readUsers(bytes, format, application);
          await bulk.exclusively(actor.developerId, async (trx) => {
            // Reading may have taken long.
            await applications.ofDeveloper(actor.developerId, appId);
            await insert(trx, actor, appId, users);
          });
          return users.length;
        });
      });
    },
  };
}

function namesOf(username: string): NewUsername | { readonly fault: string } {
  if ([...username].length > MAX_USERNAME_CHARACTERS) {
    return { fault: `username must have 1 to ${MAX_USERNAME_CHARACTERS} characters` };
  }
  try {
    return newUsername(username);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { fault: `username ${error.errors?.[0]?.detail}` };
  }
}

function roleFault(role: string): string | undefined {
  if ([...role].length > MAX_ROLE_CHARACTERS) return `role must have 1 to ${MAX_ROLE_CHARACTERS} characters`;
  return isVisibleName(role) ? undefined : `role ${NAME_FAULT}`;
}

/** The import creates no bans, so the user could log in again. */
function banFault(banned = 'false'): string | undefined {
  return banned === 'false' ? undefined : 'banned must be false or empty: ban the user after the import';
}

function hashFault(hash: string): string | undefined {
  const fault = importFault(hash);
  return fault && `password_hash ${fault}`;
}

/** The first subscriptions of imported users. */
function grantsOf(users: readonly Imported[]): Map<string, ImportedGrant> {
  return new Map(users.flatMap(({ row, grant }) => (grant ? [[row.user_id, grant] as const] : [])));
}

function* chunksOf<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; start += SLICE) yield items.slice(start, start + SLICE);
}
