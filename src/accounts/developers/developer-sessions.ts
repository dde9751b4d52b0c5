import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import * as store from './developer-session-store.ts';
import type { SessionKind } from './session-opening.ts';

/** A valid session as its developer sees it. */
export interface ListedSession {
  readonly developerSessionId: string;
  readonly kind: SessionKind;
  /** Whether it is the session of the actor. */
  readonly isCurrent: boolean;
  /** Where the developer signed in from. */
  readonly address: string;
  readonly userAgent: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Accurate to about a minute. */
  readonly lastUsedAt: Date | null;
}

/** The sessions of a developer, those of browsers and those with a bearer token. */
export interface DeveloperSessions {
  /** Valid sessions, newest first. */
  listSessions(actor: Actor, page: PageRequest): Promise<Page<ListedSession>>;
  /**
   * Ends one session: it authenticates no request that begins after this returns.
   * @throws ApiError SESSION_NOT_FOUND
   */
  endSession(actor: Actor, developerSessionId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly audit: Audit;
  readonly clock: Clock;
}

export function createDeveloperSessions({ knex, audit, clock }: Dependencies): DeveloperSessions {
  return {
    async listSessions({ developerId, sessionDigest }, request) {
      const now = clock.now();
      const page = await readPage(
        request,
        'dvs',
        (row: store.ListedRow) => row.developer_session_id,
        (range) => store.listDeveloperSessions(knex, developerId, now, range),
      );
      return { data: page.data.map((row) => toListed(row, sessionDigest)), nextCursor: page.nextCursor };
    },

    async endSession(actor, developerSessionId) {
      await knex.transaction(async (trx) => {
        if (!(await store.deleteSessionById(trx, actor.developerId, developerSessionId, clock.now())))
          throw new ApiError('SESSION_NOT_FOUND');
        await audit.record(trx, actor, { action: 'developer.session_ended', target: developerSessionId });
      });
    },
  };
}

function toListed(row: store.ListedRow, current: Buffer | undefined): ListedSession {
  return {
    developerSessionId: row.developer_session_id,
    kind: row.kind,
    isCurrent: current !== undefined && row.token_digest.equals(current),
    address: row.address,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}
