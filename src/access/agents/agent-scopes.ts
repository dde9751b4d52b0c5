import type { Scope } from '../../accounts/developers/developers.ts';
import type { CredentialType } from './credential-types.ts';

/** The scopes of an unclaimed agent, by its credential type. */
export const PRE_CLAIM_SCOPES = {
  sandbox_token: ['auth:client'],
  ephemeral_key: ['auth:client', 'agent:execute'],
} as const satisfies Partial<Record<CredentialType, readonly Scope[]>>;

/** The scopes of a claimed agent. */
export const POST_CLAIM_SCOPES: readonly Scope[] = ['read', 'write', 'auth:client', 'agent:execute'];
