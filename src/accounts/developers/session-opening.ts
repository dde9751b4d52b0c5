import type { Knex } from 'knex';
import type { Audit } from '../../foundation/audit/audit.ts';
import {
  newCookie,
  tokenDigest,
  type AccessTokenClaims,
  type Tokens,
} from '../../foundation/tokens/tokens.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Random } from '../../platform/random.ts';
import { insertDeveloperSession } from './developer-session-store.ts';
import { OWN_SCOPES } from './scope-state.ts';

/** The client id in access tokens of developers who signed in directly. */
export const OWN_CLIENT = 'latchkey';

/** A developer's session is valid for 24 hours. */
export const DEVELOPER_SESSION_MS = 24 * 60 * 60 * 1000;

const USER_AGENT_LENGTH = 256;

export interface DeveloperSession {
  readonly developerId: string;
  /** The bearer token, or the value of the cookie of a browser. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** `api` has a bearer token, `browser` a cookie. */
export type SessionKind = 'api' | 'browser';

/** A developer whose password was verified, and the generation of their sign-ins at that time. */
export interface SignedIn {
  readonly developerId: string;
  readonly generation: number;
}

type SignInAction = 'developer.registered' | 'developer.logged_in';

/** Starts sessions of developers who were authenticated. */
export interface SessionOpening {
  /** Starts a session, inside the caller's transaction, and records it in the audit log. */
  open(
    trx: Knex.Transaction,
    who: SignedIn,
    client: Client,
    start: { readonly action: SignInAction; readonly kind: SessionKind },
  ): Promise<DeveloperSession>;
  /** Records a sign-in in the audit log, inside the caller's transaction. */
  record(trx: Knex.Transaction, developerId: string, client: Client, action: SignInAction): Promise<void>;
}

interface Dependencies {
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: Random;
}

export function createSessionOpening({ tokens, audit, clock, newId, random }: Dependencies): SessionOpening {
  async function newToken(
    kind: SessionKind,
    claims: Pick<AccessTokenClaims, 'subject' | 'issuedAt' | 'expiresAt'>,
  ): Promise<string> {
    // A cookie is not a JWT: no one can use it as a bearer token.
    if (kind === 'browser') return newCookie(random);
    return tokens.signAccessToken({ ...claims, clientId: OWN_CLIENT, scopes: OWN_SCOPES });
  }

  const record: SessionOpening['record'] = async (trx, developerId, { address }, action) => {
    const actor = { kind: 'developer', id: developerId, developerId, address } as const;
    await audit.record(trx, actor, { action, target: developerId });
  };

  return {
    record,

    async open(trx, { developerId, generation }, client, { action, kind }) {
      const now = clock.now();
      const expiresAt = new Date(now.getTime() + DEVELOPER_SESSION_MS);
      const token = await newToken(kind, { subject: developerId, issuedAt: now, expiresAt });
      await insertDeveloperSession(trx, {
        token_digest: tokenDigest(token),
        developer_id: developerId,
        sign_in_generation: generation,
        created_at: now,
        expires_at: expiresAt,
        developer_session_id: newId('dvs'),
        kind,
        address: client.address,
        user_agent: client.userAgent?.slice(0, USER_AGENT_LENGTH) ?? null,
        last_used_at: null,
      });
      await record(trx, developerId, client, action);
      return { developerId, token, expiresAt };
    },
  };
}
