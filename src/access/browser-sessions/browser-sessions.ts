import type { Developers } from '../../accounts/developers/developers.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { createSessionCookie } from './session-cookie.ts';
import type { BrowserSession, TokenSessions } from './token-sessions.ts';

export type { BrowserSession } from './token-sessions.ts';

/** How a browser signs in: a developer, or a reseller or the administrator with a token. */
export interface BrowserCredentials {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
}

/** A new session, and the headers that its browser gets. */
export interface OpenedBrowserSession {
  readonly session: BrowserSession;
  /** A `Set-Cookie` header. */
  readonly setCookie: string;
}

/** Sessions of browsers, which have a cookie instead of a bearer token. */
export interface BrowserSessions {
  /**
   * Signs a browser in. The session that it has had until now ends, because the new cookie replaces its own.
   * @param cookieHeader the `Cookie` header of the request
   * @throws ApiError INVALID_CREDENTIALS, ACCOUNT_SUSPENDED, TOO_MANY_REQUESTS; VALIDATION_FAILED for an email without
   *   a password
   */
  open(
    credentials: BrowserCredentials,
    cookieHeader: string | undefined,
    client: Client,
  ): Promise<OpenedBrowserSession>;
  /** Whether a `Cookie` header has the cookie of a session, which may have ended. */
  hasCookie(cookieHeader: string | undefined): boolean;
  /**
   * Finds the identity behind the cookie of a request.
   * @param cookieHeader its `Cookie` header
   * @returns undefined when there is no valid session
   * @throws ApiError ACCOUNT_SUSPENDED
   */
  authenticate(cookieHeader: string | undefined, client: Client): Promise<BrowserSession | undefined>;
  /** Like `authenticate`. @throws ApiError ACCOUNT_SUSPENDED; UNAUTHORIZED when there is no valid session */
  current(cookieHeader: string | undefined, client: Client): Promise<BrowserSession>;
  /**
   * Ends the session of a request, if it is valid: its cookie authenticates no request that begins after this returns.
   * If there are several cookies, all of their sessions end.
   * @returns the `Set-Cookie` header that deletes the cookie
   */
  end(cookieHeader: string | undefined, client: Client): Promise<string>;
  /** Deletes some expired sessions of resellers and the administrator. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly developers: Pick<Developers, 'login' | 'authenticate' | 'logout' | 'scopes'>;
  readonly tokenSessions: TokenSessions;
  readonly clock: Clock;
  /** `{web_url}`, whose scheme decides about the cookie. */
  readonly webUrl: () => string;
}

export function createBrowserSessions(deps: Dependencies): BrowserSessions {
  const { developers, tokenSessions, clock, webUrl } = deps;
  const cookie = createSessionCookie(webUrl);

  async function openOfDeveloper(email: string, password: string, client: Client): Promise<string> {
    return (await developers.login(email, password, client, 'browser')).token;
  }

  async function ofDeveloper(value: string, { address }: Client): Promise<BrowserSession | undefined> {
    const found = await developers.authenticate(value);
    if (!found) return undefined;
    const { developerId, sessionDigest, expiresAt, suspended } = found;
    return {
      kind: 'developer',
      actor: { kind: 'developer', id: developerId, developerId, address, sessionDigest },
      scopes: developers.scopes,
      resellerId: null,
      expiresAt,
      suspended,
    };
  }

  const ofCookie = async (value: string, client: Client) =>
    (await ofDeveloper(value, client)) ?? (await tokenSessions.find(value, client));

  async function authenticate(
    cookieHeader: string | undefined,
    client: Client,
  ): Promise<BrowserSession | undefined> {
    const value = cookie.read(cookieHeader);
    const session = value === undefined ? undefined : await ofCookie(value, client);
    if (session?.suspended) throw new ApiError('ACCOUNT_SUSPENDED');
    return session;
  }

  async function endSession(session: BrowserSession, value: string): Promise<void> {
    const { kind, actor } = session;
    if (kind !== 'developer') return tokenSessions.end(session, value);
    try {
      await developers.logout(actor, actor.sessionDigest!);
    } catch (error) {
      // Another request may have ended it since.
      if (!(error instanceof ApiError && error.code === 'UNAUTHORIZED')) throw error;
    }
  }

  async function endAll(cookieHeader: string | undefined, client: Client): Promise<void> {
    for (const value of cookie.readAll(cookieHeader)) {
      const session = await ofCookie(value, client);
      if (session) await endSession(session, value);
    }
  }

  return {
    async open({ email, password, token }, cookieHeader, client) {
      if (token === undefined && password === undefined) throw invalidMember('/password', 'is required');
      if (token !== undefined && password !== undefined)
        throw invalidMember('/password', 'must not be sent with token');
      const value =
        token === undefined
          ? await openOfDeveloper(email!, password!, client)
          : await tokenSessions.open(token, client);
      const session = await ofCookie(value, client);
      // The credential may have been revoked since.
      if (!session) throw new ApiError('INVALID_CREDENTIALS');
      try {
        await endAll(cookieHeader, client);
      } catch (error) {
        // The browser gets no cookie, so no one can use the new session.
        await endSession(session, value);
        throw error;
      }
      const secondsLeft = Math.floor((session.expiresAt.getTime() - clock.now().getTime()) / 1000);
      return { session, setCookie: cookie.set(value, secondsLeft) };
    },

    hasCookie: (cookieHeader) => cookie.read(cookieHeader) !== undefined,

    authenticate,

    async current(cookieHeader, client) {
      const session = await authenticate(cookieHeader, client);
      if (!session) throw new ApiError('UNAUTHORIZED');
      return session;
    },

    async end(cookieHeader, client) {
      await endAll(cookieHeader, client);
      return cookie.clear();
    },

    clearExpired: tokenSessions.clearExpired,
  };
}
