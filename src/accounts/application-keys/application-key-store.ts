import type { Knex } from 'knex';
import type pg from 'pg';
import { createRowResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { KeyState } from './application-key-state.ts';

export interface ApplicationKeyRow {
  readonly kid: string;
  readonly app_id: string;
  readonly state: KeyState;
  readonly public_key: Buffer;
  /** Null after retirement. */
  readonly private_key_sealed: Buffer | null;
  readonly created_at: Date;
  readonly signing_since: Date | null;
  readonly retired_at: Date | null;
}

/** Inserts keys; a state that the application already has a key in is left as it is. */
export async function insertKeys(trx: Knex.Transaction, rows: readonly ApplicationKeyRow[]): Promise<void> {
  await trx<ApplicationKeyRow>('application_keys')
    .insert(rows as ApplicationKeyRow[])
    .onConflict()
    .ignore();
}

/** The keys of an application in the order in which they have signed; those that never have come last. */
export async function listKeys(db: Knex, appId: string): Promise<ApplicationKeyRow[]> {
  return db<ApplicationKeyRow>('application_keys')
    .where({ app_id: appId })
    .orderByRaw('signing_since nulls last, created_at, kid');
}

/** Changes the state of a key. */
export async function updateKey(
  trx: Knex.Transaction,
  kid: string,
  changes: Partial<Pick<ApplicationKeyRow, 'state' | 'private_key_sealed' | 'signing_since' | 'retired_at'>>,
): Promise<void> {
  await trx<ApplicationKeyRow>('application_keys').where({ kid }).update(changes);
}

/** The key that signs for an application. */
export interface SealedKey {
  readonly kid: string;
  readonly sealed: Buffer;
}

/** Reads the signing keys of applications. @returns in their order; undefined for an application without keys */
export async function readSigningKeys(
  client: pg.ClientBase,
  appIds: readonly string[],
): Promise<(SealedKey | undefined)[]> {
  const { rows } = await client.query<{ app_id: string } & SealedKey>({
    name: 'find-application-signing-keys',
    text: `select app_id, kid, private_key_sealed as sealed from application_keys
           where state = 'signing' and app_id = any ($1::text[])`,
    values: [appIds],
  });
  const byApp = new Map(rows.map((row) => [row.app_id, row]));
  return appIds.map((appId) => byApp.get(appId));
}

/** The text that binds a private key to its application and itself. */
function idOf(appId: string, kid: string): string {
  return `${appId}/${kid}`;
}

/** The context under which a private key is sealed. */
export function keyContext(appId: string, kid: string): string {
  return contextOf(idOf(appId, kid));
}

function contextOf(id: string): string {
  return `application-key:${id}`;
}

/** @returns reseals the next batch of private keys under the current master key, and returns its size */
export function createKeyResealer(db: Knex, keyring: Keyring): () => Promise<number> {
  return createRowResealer(keyring, {
    name: 'application_keys',
    context: contextOf,
    async list(after, keyId, limit) {
      const { rows } = await db.raw<{ rows: { id: string; sealed: Buffer }[] }>(
        `select app_id || '/' || kid as id, private_key_sealed as sealed from application_keys
         where substring(private_key_sealed from 1 for ?) <> ? and app_id || '/' || kid > ?
         order by app_id || '/' || kid limit ?`,
        [keyId.length, keyId, after, limit],
      );
      return rows;
    },
    replace: (id, from, to) =>
      db<ApplicationKeyRow>('application_keys')
        .where({ kid: id.slice(id.lastIndexOf('/') + 1), private_key_sealed: from })
        .update({ private_key_sealed: to }),
  });
}
