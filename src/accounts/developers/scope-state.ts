/**
 * What a token allows: reading, writing, managing the developer's account, tokens and resellers,
 * authenticating users, registering agents, and acting as an agent.
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

/** All scopes except that of end users. */
export const OWN_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'auth:client');
