import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { isUnavailable } from '../platform/database/index.ts';
import { RequestScope } from '../platform/request-scope.ts';
import { readSessionFacts, type SessionFacts } from './session-facts-store.ts';

export type { SessionFacts } from './session-facts-store.ts';

/** The two kinds of handles by which a client names its session. */
export type HandleKind = 'token' | 'session_id';

export interface SessionLookup {
  /**
   * Reads the session of a handle from the database as it is now.
   * @param digest SHA-256 of the handle
   * @returns undefined when there is no such session, or its application is gone
   */
  find(kind: HandleKind, digest: Buffer): Promise<SessionFacts | undefined>;
  /**
   * Reads many sessions in one statement, beside the batches of `find`.
   * @param sessionDigests SHA-256 of the session ids
   * @returns in the order of the digests, as `find`
   */
  findAll(sessionDigests: readonly Buffer[]): Promise<(SessionFacts | undefined)[]>;
}

const KEYS_A_BATCH = 64;
const CONNECTIONS = 2;

/** One handle and everybody who asks for it. */
interface Question {
  readonly kind: HandleKind;
  readonly digest: Buffer;
  readonly askers: PromiseWithResolvers<SessionFacts | undefined>[];
}

/**
 * Looks sessions up in batches: what arrives while the statement of others is under way goes out together with the
 * next one. A statement always begins after every request in it has arrived, so nothing stale is ever read.
 * @param observeBatch is told how many handles each statement asks for
 */
export function createSessionLookup(
  pool: pg.Pool,
  observeBatch: (size: number) => void = () => {},
): SessionLookup {
  const waiting = new Map<string, Question>();
  let working = 0;

  function takeBatch(): Question[] {
    const batch: Question[] = [];
    for (const [key, question] of waiting) {
      if (batch.length === KEYS_A_BATCH) break;
      waiting.delete(key);
      batch.push(question);
    }
    return batch;
  }

  /** A second connection only for what the first could not take with its next statement: two halves cost more than one. */
  function schedule(): void {
    if (working >= CONNECTIONS || waiting.size <= working * KEYS_A_BATCH) return;
    working += 1;
    // It may go on for as long as anybody asks.
    void RequestScope.outside(work).finally(() => {
      working -= 1;
      schedule();
    });
  }

  /** Gathers the requests that arrive together: as long as each turn of the event loop brings more, up to a batch. */
  async function untilGathered(): Promise<void> {
    let gathered: number;
    do {
      gathered = waiting.size;
      await turn();
    } while (waiting.size > gathered && waiting.size < KEYS_A_BATCH);
  }

  /** Answers batch after batch over one connection, and gives it back when nobody waits any more. */
  async function work(): Promise<void> {
    let client: pg.PoolClient | undefined;
    let batch: Question[] = [];
    try {
      client = await pool.connect();
      while (waiting.size > 0) {
        await untilGathered();
        batch = takeBatch();
        if (batch.length === 0) continue;
        observeBatch(batch.length);
        await answerBatch(client, batch);
      }
      client.release();
    } catch (error) {
      client?.release(true);
      for (const question of batch) reject(question, error);
      // Whoever has waited as long for a database that does not answer must not wait for a second failure.
      if (client === undefined || isUnavailable(error)) rejectWaiting(error);
    }
  }

  function rejectWaiting(error: unknown): void {
    for (const question of waiting.values()) reject(question, error);
    waiting.clear();
  }

  return {
    find(kind, digest) {
      const key = kind + digest.toString('latin1');
      const question = waiting.get(key) ?? { kind, digest, askers: [] };
      const asker = Promise.withResolvers<SessionFacts | undefined>();
      question.askers.push(asker);
      waiting.set(key, question);
      schedule();
      return asker.promise;
    },

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

async function answerBatch(client: pg.PoolClient, batch: readonly Question[]): Promise<void> {
  const tokens = batch.filter(({ kind }) => kind === 'token');
  const sessionIds = batch.filter(({ kind }) => kind === 'session_id');
  const digests = (questions: readonly Question[]) => questions.map(({ digest }) => digest);
  const { byToken, bySessionId } = await readSessionFacts(client, digests(tokens), digests(sessionIds));
  tokens.forEach((question, index) => answer(question, byToken[index]));
  sessionIds.forEach((question, index) => answer(question, bySessionId[index]));
}

function answer(question: Question, facts: SessionFacts | undefined): void {
  for (const asker of question.askers) asker.resolve(facts);
}

function reject(question: Question, error: unknown): void {
  for (const asker of question.askers) asker.reject(error);
}
