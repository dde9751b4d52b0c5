import { timingSafeEqual } from 'node:crypto';
import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from '../agents/agents.ts';
import type { Scope } from '../../accounts/developers/developers.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Keys } from '../../foundation/keys/keys.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Tokens } from '../../foundation/tokens/tokens.ts';

const LIFETIME_MS = 60 * 60 * 1000;

/** What every session of the sandbox may do. */
export const ENTITLEMENTS = {
  plan: 'free_developer',
  features: ['hwid_lock', 'unlimited_logins', 'instant_reseller'],
} as const;

export interface SandboxSession {
  readonly username: string;
  readonly expiresAt: Date;
  readonly entitlements: typeof ENTITLEMENTS;
}

/** Sessions that exist in their tokens alone: nothing is looked up or kept. */
export interface Sandbox {
  /** Begins a session of one hour. */
  authenticate(request: {
    readonly appId: string;
    readonly username: string;
    readonly hwid: string;
  }): Promise<
    SandboxSession & {
      readonly token: string;
      /** What an agent may do with the token once it is claimed, and before. */
      readonly scopes: readonly Scope[];
      readonly postClaimScopes: readonly Scope[];
    }
  >;
  /**
   * Checks a token that `authenticate` gave.
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, HWID_MISMATCH
   */
  verify(appId: string, token: string, hwid: string | undefined): Promise<SandboxSession>;
}

export function createSandbox(tokens: Tokens, keys: Keys, clock: Clock): Sandbox {
  // Tokens can be read by anybody: what they say must be of no use against the digests of real users.
  const machineDigest = (appId: string, hwid: string) => keys.hwidDigest(`sandbox:${appId}`, hwid);

  return {
    async authenticate({ appId, username, hwid }) {
      const issuedAt = clock.now();
      // Tokens count in whole seconds.
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
