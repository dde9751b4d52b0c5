/**
 * What a token may do: look, change, manage the developer's account, tokens and resellers, authenticate users, register
 * agents, and act as one.
 */
export const SCOPES = [
  'read',
  'write',
  'auth:dev',
  'auth:client',
  'agent:register',
  'agent:execute',
] as const;
export type Scope = (typeof SCOPES)[number];

/** All but that of end users. */
export const OWN_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'auth:client');
