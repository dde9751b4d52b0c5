import type { Knex } from 'knex';
import { takeAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { Limit, Visibility } from './variable-state.ts';

export interface VariableRow {
  readonly variable_id: string;
  readonly app_id: string;
  /** Null for a variable of the application. */
  readonly user_id: string | null;
  readonly name: string;
  readonly value: string;
  readonly bytes: number;
  readonly visibility: Visibility;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The owner of variables. */
export interface Owner {
  readonly appId: string;
  /** Null for the application itself. */
  readonly userId: string | null;
}

/** Locks the application's variables against other changes until the transaction ends. */
export async function lockVariablesForUpdate(trx: Knex.Transaction, appId: string): Promise<void> {
  await takeAdvisoryLock(trx, `variables:${appId}`);
}

function ofOwner(db: Knex, { appId, userId }: Owner) {
  const query = db<VariableRow>('variables').where({ app_id: appId });
  return userId === null ? query.whereNull('user_id') : query.where({ user_id: userId });
}

export async function findVariable(db: Knex, owner: Owner, name: string): Promise<VariableRow | undefined> {
  return (await ofOwner(db, owner).where({ name }).limit(1))[0];
}

/** The usage of all variables of the owner except one. */
export async function sumOthers(trx: Knex.Transaction, owner: Owner, name: string): Promise<Limit> {
  const [row] = await ofOwner(trx, owner)
    .whereNot({ name })
    .select<[{ variables: number; bytes: number }]>(
      trx.raw('count(*)::integer as variables, coalesce(sum(bytes), 0)::integer as bytes'),
    );
  return row!;
}

export async function insertVariable(trx: Knex.Transaction, row: VariableRow): Promise<void> {
  await trx('variables').insert(row);
}

export async function updateVariable(
  trx: Knex.Transaction,
  variableId: string,
  changes: Pick<VariableRow, 'value' | 'bytes' | 'visibility' | 'updated_at'>,
): Promise<void> {
  await trx('variables').where({ variable_id: variableId }).update(changes);
}

/** @returns the id of the deleted variable; undefined if the owner had none of this name */
export async function deleteVariable(
  trx: Knex.Transaction,
  owner: Owner,
  name: string,
): Promise<string | undefined> {
  const [row] = await ofOwner(trx, owner).where({ name }).delete(['variable_id']);
  return (row as Pick<VariableRow, 'variable_id'> | undefined)?.variable_id;
}

/** Newest first; ids sort by time of creation. */
export async function listVariables(
  db: Knex,
  owner: Owner,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<VariableRow[]> {
  const query = ofOwner(db, owner).orderBy('variable_id', 'desc').limit(page.limit);
  return page.before === undefined ? query : query.where('variable_id', '<', page.before);
}

export type VisibleRow = Pick<VariableRow, 'name' | 'value' | 'user_id'>;

/**
 * The variables that a program can read, by name: a user's variable overrides the application's of the same name.
 * @param userId the user of the session; undefined without a session
 * @param name only the variable of this name
 */
export async function findVisible(
  db: Knex,
  appId: string,
  userId: string | undefined,
  name?: string,
): Promise<VisibleRow[]> {
  const { rows } = await db.raw<{ rows: VisibleRow[] }>(
    `select distinct on (name) name, value, user_id from (
       select name, value, user_id from variables
       where app_id = :appId and user_id is null and (visibility = 'public' or :userId::text is not null)
         ${name === undefined ? '' : 'and name = :name'}
       union all
       select name, value, user_id from variables
       where user_id = :userId ${name === undefined ? '' : 'and name = :name'}
     ) visible order by name, user_id nulls last`,
    { appId, userId: userId ?? null, ...(name !== undefined && { name }) } as Record<string, Knex.RawBinding>,
  );
  return rows;
}

/** Deletes a batch of variables of an application and of its users. @returns how many */
export async function deleteVariablesOfApplication(db: Knex, appId: string, limit: number): Promise<number> {
  const some = db('variables').where({ app_id: appId }).limit(limit).select('variable_id');
  return db('variables').whereIn('variable_id', some).delete();
}
