import type { Knex } from 'knex';
import { UnknownMasterKeyError, type Keyring } from '../platform/keyring.ts';
import * as store from './session-id-store.ts';

/** The ids of sessions, sealed, for the topics of a broker outside. */
export interface SessionIds {
  /** Keeps the id of a session inside the caller's transaction, if ids are kept. */
  keep(trx: Knex.Transaction, sessionDigest: Buffer, sessionId: string): Promise<void>;
  /**
   * The ids of sessions, by their digests in hexadecimal: of those that began while events went to a broker outside, whose
   * topics name them.
   */
  idsOf(sessionDigests: readonly Buffer[]): Promise<ReadonlyMap<string, string>>;
  /** Seals some ids anew under the current master key. @returns how many */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly keyring: Keyring;
  /** Whether ids are kept, sealed. */
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
          // A value that was damaged is as good as none, and must not keep those of other sessions back.
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
