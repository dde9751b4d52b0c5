import { timingSafeEqual } from 'node:crypto';
import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from '../agents/agents.ts';
import type { Scope } from '../../accounts/developers/developers.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Tokens } from '../../foundation/tokens/tokens.ts';

const LIFETIME_MS = 60 * 60 * 1000;

/** The entitlements of every sandbox session. */
export const ENTITLEMENTS = {
  plan: 'free_developer',
  features: ['hwid_lock', 'unlimited_logins', 'instant_reseller'],
} as const;

export interface SandboxSession {
  readonly username: string;
  readonly expiresAt: Date;
  readonly entitlements: typeof ENTITLEMENTS;
}

/** Sessions that exist only in their tokens: nothing is looked up or stored. */
export interface Sandbox {
  /** Starts a session of one hour. */
  authenticate(request: {
    readonly appId: string;
    readonly username: string;
    readonly hwid: string;
  }): Promise<
    SandboxSession & {
      readonly token: string;
      /** The agent's scopes with the token, before and after a claim. */
      readonly scopes: readonly Scope[];
      readonly postClaimScopes: readonly Scope[];
    }
  >;
  /**
   * Checks a token from `authenticate`.
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, HWID_MISMATCH
   */
  verify(appId: string, token: string, hwid: string | undefined): Promise<SandboxSession>;
}

export function createSandbox(tokens: Tokens, keys: Keys, clock: Clock): Sandbox {
  // Anyone can read the tokens: their content must not help against the digests of real users.
  const machineDigest = (appId: string, hwid: string) => keys.hwidDigest(`sandbox:${appId}`, hwid);

  return {
    async authenticate({ appId, username, hwid }) {
      const issuedAt = clock.now();
      // Tokens count whole seconds.
      const expiresAt = new Date(Math.floor(issuedAt.getTime() / 1000) * 1000 + LIFETIME_MS);
      const machine = machineDigest(appId, hwid).toString('base64url');
      const token = await tokens.signSandboxToken({ appId, username, machine, issuedAt, expiresAt });
      return {
        token,
        username,
        expiresAt,
        entitlements: ENTITLEMENTS,
        scopes: PRE_CLAIM_SCOPES.sandbox_token,
        postClaimScopes: POST_CLAIM_SCOPES,
      };
    },

    async verify(appId, token, hwid) {
      const claims = await tokens.readSandboxToken(token);
      if (!claims || claims.appId !== appId) throw new ApiError('SESSION_INVALID');
      if (claims.expiresAt <= clock.now()) {
        throw new ApiError('SESSION_EXPIRED', {
          detail: 'The session of the sandbox is older than one hour.',
        });
      }
      if (hwid !== undefined) {
        const same = timingSafeEqual(machineDigest(appId, hwid), Buffer.from(claims.machine, 'base64url'));
        if (!same) throw new ApiError('HWID_MISMATCH', { detail: 'The session belongs to another machine.' });
      }
      return { username: claims.username, expiresAt: claims.expiresAt, entitlements: ENTITLEMENTS };
    },
  };
}
