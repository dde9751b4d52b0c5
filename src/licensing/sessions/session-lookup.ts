import type pg from 'pg';
import { createBatchedLookup } from '../../platform/database/batched-lookup.ts';
import { readSessionFacts, type SessionFacts } from './session-facts-store.ts';

export type { SessionFacts } from './session-facts-store.ts';

/** The two kinds of handles by which a client names its session. */
export type HandleKind = 'token' | 'session_id';

export interface SessionLookup {
  /**
   * Reads the session of a handle from the database as it is now.
   * @param digest SHA-256 of the handle
   * @returns undefined if the session does not exist, or its application is deleted
   */
  find(kind: HandleKind, digest: Buffer): Promise<SessionFacts | undefined>;
  /**
   * Reads many sessions in one statement, separately from the batches of `find`.
   * @param sessionDigests SHA-256 of the session ids
   * @returns the results in the order of the digests, as in `find`
   */
  findAll(sessionDigests: readonly Buffer[]): Promise<(SessionFacts | undefined)[]>;
}

/** A second connection is used when more sessions wait than one statement reads. */
const CONNECTIONS = 2;

interface Handle {
  readonly kind: HandleKind;
  readonly digest: Buffer;
}

/**
 * Looks sessions up in batches.
 * @param observeBatch receives the number of handles of each statement
 */
export function createSessionLookup(pool: pg.Pool, observeBatch?: (size: number) => void): SessionLookup {
  const find = createBatchedLookup<Handle, SessionFacts>({
    pool,
    textOf: ({ kind, digest }) => kind + digest.toString('latin1'),
    read: readBatch,
    observeBatch,
    connections: CONNECTIONS,
  });

  return {
    find: (kind, digest) => find({ kind, digest }),

    async findAll(sessionDigests) {
      const client = await pool.connect();
      try {
        const { bySessionId } = await readSessionFacts(client, [], sessionDigests);
        client.release();
        return bySessionId;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
  };
}

async function readBatch(
  client: pg.ClientBase,
  handles: readonly Handle[],
): Promise<(SessionFacts | undefined)[]> {
  const of = (kind: HandleKind) => handles.filter((handle) => handle.kind === kind);
  const digests = (some: readonly Handle[]) => some.map(({ digest }) => digest);
  const { byToken, bySessionId } = await readSessionFacts(
    client,
    digests(of('token')),
    digests(of('session_id')),
  );
  const [nextByToken, nextBySessionId] = [byToken.values(), bySessionId.values()];
  return handles.map(({ kind }) => (kind === 'token' ? nextByToken : nextBySessionId).next().value);
}
