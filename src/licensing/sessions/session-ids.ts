import type { Knex } from 'knex';
import { UnknownMasterKeyError, type Keyring } from '../../platform/keyring.ts';
import * as store from './session-id-store.ts';

/** The sealed ids of sessions, for the topics of an external broker. */
export interface SessionIds {
  /** Stores the id of a session inside the caller's transaction, if ids are kept. */
  keep(trx: Knex.Transaction, sessionDigest: Buffer, sessionId: string): Promise<void>;
  /**
   * The ids of sessions by their digests in hexadecimal, for sessions that began while an external broker was in use,
   * whose topics contain them.
   */
  idsOf(sessionDigests: readonly Buffer[]): Promise<ReadonlyMap<string, string>>;
  /** Reseals a batch of ids under the current master key. @returns how many */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly keyring: Keyring;
  /** Whether sealed ids are kept. */
  readonly keepIds: boolean;
}

export function createSessionIds({ knex, keyring, keepIds }: Dependencies): SessionIds {
  return {
    async keep(trx, sessionDigest, sessionId) {
      if (!keepIds) return;
      const sealed = keyring.seal(Buffer.from(sessionId), idContext(sessionDigest));
      await store.insertSessionId(trx, sessionDigest, sealed);
    },

    async idsOf(sessionDigests) {
      const rows = await store.findSessionIds(knex, sessionDigests);
      const ids = new Map<string, string>();
      for (const { session_digest: digest, session_id_sealed: sealed } of rows) {
        try {
          ids.set(digest.toString('hex'), keyring.open(sealed, idContext(digest)).toString());
        } catch (error) {
          // A damaged value counts as missing, and must not affect other sessions.
          if (error instanceof UnknownMasterKeyError) throw error;
        }
      }
      return ids;
    },

    reseal: store.createSessionIdResealer(knex, keyring, idContext),
  };
}

function idContext(sessionDigest: Buffer): string {
  return `session-id:${sessionDigest.toString('hex')}`;
}
