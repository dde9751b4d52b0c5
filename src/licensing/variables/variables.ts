import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import { isKnown } from '../../platform/entity-tag.ts';
import type { NewId } from '../../platform/ids.ts';
import type { SessionIdentity } from '../sessions/sessions.ts';
import type { Users } from '../users/users.ts';
import {
  fits,
  LARGEST_VALUE,
  LIMIT_OF_APPLICATION,
  LIMIT_OF_USER,
  type Limit,
  type Visibility,
} from './variable-state.ts';
import * as store from './variable-store.ts';

const CLEARED_AT_ONCE = 500;

export interface Variable {
  readonly name: string;
  /** Exactly as set. */
  readonly value: string;
  readonly visibility: Visibility;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A variable in responses to programs. */
export interface VisibleVariable {
  readonly name: string;
  readonly value: string;
  /** The owner. */
  readonly source: 'application' | 'user';
}

/** The program that sends the request. */
export interface Reader {
  readonly appId: string;
  /** The live session whose token was sent. */
  readonly session: SessionIdentity | undefined;
  /** Of the request. */
  readonly trust: ClientTrust | undefined;
  /** `If-None-Match`, as sent. */
  readonly ifNoneMatch: string | undefined;
}

/** A result that the client may already have. */
export interface Revision<Content> {
  /** The entity tag of the content. */
  readonly tag: string;
  /** Undefined if the client has it. */
  readonly content: Content | undefined;
}

/** Cloud variables: values that developers set for their programs without a new release. */
export interface Variables {
  /**
   * Creates a variable of the application or replaces it.
   * @throws ApiError APPLICATION_NOT_FOUND, QUOTA_EXCEEDED; VALIDATION_FAILED for a value of more than 64 KiB
   */
  set(actor: Actor, appId: string, name: string, value: string, visibility: Visibility): Promise<Variable>;
  /** @throws ApiError APPLICATION_NOT_FOUND, VARIABLE_NOT_FOUND */
  get(developerId: string, appId: string, name: string): Promise<Variable>;
  /** @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, page: PageRequest): Promise<Page<Variable>>;
  /** @throws ApiError APPLICATION_NOT_FOUND, VARIABLE_NOT_FOUND */
  delete(actor: Actor, appId: string, name: string): Promise<void>;
  /**
   * Creates a variable of one user or replaces it.
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND, QUOTA_EXCEEDED; VALIDATION_FAILED as set does
   */
  setOfUser(actor: Actor, appId: string, userId: string, name: string, value: string): Promise<Variable>;
  /** @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND */
  listOfUser(developerId: string, appId: string, userId: string, page: PageRequest): Promise<Page<Variable>>;
  /** @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND, VARIABLE_NOT_FOUND */
  deleteOfUser(actor: Actor, appId: string, userId: string, name: string): Promise<void>;
  /**
   * All variables that a program can read, by name.
   * @throws ApiError APPLICATION_NOT_FOUND, APPLICATION_INACTIVE; SESSION_INVALID for a session of another application
   */
  visible(reader: Reader): Promise<Revision<VisibleVariable[]>>;
  /** One of these variables. @throws ApiError VARIABLE_NOT_FOUND, and those of visible */
  visibleOne(reader: Reader, name: string): Promise<Revision<VisibleVariable>>;
  /** Deletes a batch of variables of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly users: Users;
  readonly events: Events;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createVariables({
  knex,
  applications,
  users,
  events,
  clock,
  newId,
}: Dependencies): Variables {
  /** Locks the application and the owner's variables. */
  async function lockOwner(
    trx: Knex.Transaction,
    actor: Actor,
    { appId, userId }: store.Owner,
  ): Promise<void> {
    await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
    if (userId === null) await store.lockVariablesForUpdate(trx, appId);
    else await users.lockForUpdate(trx, appId, userId);
  }

  async function set(
    actor: Actor,
    owner: store.Owner,
    limit: Limit,
    { name, value, visibility }: Pick<Variable, 'name' | 'value' | 'visibility'>,
  ): Promise<Variable> {
    const bytes = Buffer.byteLength(value);
    return knex.transaction(async (trx) => {
      await lockOwner(trx, actor, owner);
      if (bytes > LARGEST_VALUE) throw invalidMember('/value', `must have at most ${LARGEST_VALUE} bytes`);
      const before = await store.findVariable(trx, owner, name);
      if (before?.value === value && before.visibility === visibility) return toVariable(before);
      if (!fits(limit, await store.sumOthers(trx, owner, name), bytes)) {
        throw new ApiError('QUOTA_EXCEEDED', {
          detail: `The limit is ${limit.variables} variables with ${limit.bytes} bytes in total.`,
        });
      }
      const now = clock.now();
      const row: store.VariableRow = {
        variable_id: before?.variable_id ?? newId('var'),
        app_id: owner.appId,
        user_id: owner.userId,
        name,
        value,
        bytes,
        visibility,
        created_at: before?.created_at ?? now,
        updated_at: now,
      };
      if (before) {
        const { variable_id: id, updated_at } = row;
        await store.updateVariable(trx, id, { value, bytes, visibility, updated_at });
      } else {
        await store.insertVariable(trx, row);
      }
      const change = { appId: owner.appId, actor, target: row.variable_id };
      if (owner.userId === null) {
        await events.record(trx, { ...change, type: 'variable.set', data: { name, visibility } });
      } else {
        const { userId } = owner;
        await events.record(trx, { ...change, type: 'user.variable_set', userId, data: { name } });
      }
      return toVariable(row);
    });
  }

  async function remove(actor: Actor, owner: store.Owner, name: string): Promise<void> {
    await knex.transaction(async (trx) => {
      await lockOwner(trx, actor, owner);
      const variableId = await store.deleteVariable(trx, owner, name);
      if (variableId === undefined) throw new ApiError('VARIABLE_NOT_FOUND');
      const { appId, userId } = owner;
      const change = { appId, actor, target: variableId, data: { name } };
      if (userId === null) await events.record(trx, { ...change, type: 'variable.deleted' });
      else await events.record(trx, { ...change, type: 'user.variable_deleted', userId });
    });
  }

  async function list(owner: store.Owner, request: PageRequest): Promise<Page<Variable>> {
    const page = await readPage(
      request,
      'var',
      (row: store.VariableRow) => row.variable_id,
      (range) => store.listVariables(knex, owner, range),
    );
    return { data: page.data.map(toVariable), nextCursor: page.nextCursor };
  }

  /** @returns the user of the session; undefined without a session */
  async function admit({ appId, session, trust }: Reader): Promise<string | undefined> {
    await applications.usable(appId, trust);
    if (session && session.appId !== appId) throw new ApiError('SESSION_INVALID');
    return session?.userId;
  }

  return {
    set: (actor, appId, name, value, visibility) =>
      set(actor, { appId, userId: null }, LIMIT_OF_APPLICATION, { name, value, visibility }),

    async get(developerId, appId, name) {
      await applications.ofDeveloper(developerId, appId);
      const row = await store.findVariable(knex, { appId, userId: null }, name);
      if (!row) throw new ApiError('VARIABLE_NOT_FOUND');
      return toVariable(row);
    },

    async list(developerId, appId, page) {
      await applications.ofDeveloper(developerId, appId);
      return list({ appId, userId: null }, page);
    },

    delete: (actor, appId, name) => remove(actor, { appId, userId: null }, name),

    setOfUser: (actor, appId, userId, name, value) =>
      set(actor, { appId, userId }, LIMIT_OF_USER, { name, value, visibility: 'session' }),

    async listOfUser(developerId, appId, userId, page) {
      await applications.ofDeveloper(developerId, appId);
      await users.reference(knex, appId, userId);
      return list({ appId, userId }, page);
    },

    deleteOfUser: (actor, appId, userId, name) => remove(actor, { appId, userId }, name),

    async visible(reader) {
      const userId = await admit(reader);
      const rows = await store.findVisible(knex, reader.appId, userId);
      return toRevision(rows.map(toVisible), reader);
    },

    async visibleOne(reader, name) {
      const userId = await admit(reader);
      const [row] = await store.findVisible(knex, reader.appId, userId, name);
      if (!row) throw new ApiError('VARIABLE_NOT_FOUND');
      return toRevision(toVisible(row), reader);
    },

    clearOf: (appId) => store.deleteVariablesOfApplication(knex, appId, CLEARED_AT_ONCE),
  };
}

function toRevision<Content>(content: Content, { ifNoneMatch }: Reader): Revision<Content> {
  const tag = `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url')}"`;
  return { tag, content: isKnown(ifNoneMatch, tag) ? undefined : content };
}

function toVisible({ name, value, user_id }: store.VisibleRow): VisibleVariable {
  return { name, value, source: user_id === null ? 'application' : 'user' };
}

function toVariable(row: store.VariableRow): Variable {
  return {
    name: row.name,
    value: row.value,
    visibility: row.visibility,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
