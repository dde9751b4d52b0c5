/** Scopes of OpenID Connect, which open no operation. */
export const IDENTITY_SCOPES = ['openid', 'profile', 'email', 'offline_access'] as const;
/** What each tells of a developer (OpenID Connect Core, section 5.4). */
export const CLAIMS = { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] } as const;

/** What clients can be let do at the API. */
export const API_SCOPES = ['read', 'write', 'auth:dev', 'agent:register', 'agent:execute'] as const;

export type ClientScope = (typeof IDENTITY_SCOPES)[number] | (typeof API_SCOPES)[number];

export const CLIENT_SCOPES: readonly ClientScope[] = [...IDENTITY_SCOPES, ...API_SCOPES];

/** The words of a `scope` that are known here, once each, in our order. */
export function knownScopes(scope: string | undefined): ClientScope[] {
  const words = (scope ?? '').split(' ');
  return CLIENT_SCOPES.filter((known) => words.includes(known));
}

/** What a client gets that asks for no scope (RFC 6749, section 3.3): what it is registered for, but nothing personal. */
export function defaultScopes(registered: string | undefined): ClientScope[] {
  const scopes = knownScopes(registered);
  return API_SCOPES.filter((scope) => scope !== 'auth:dev' && scopes.includes(scope));
}
