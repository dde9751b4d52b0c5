/** The scopes of OpenID Connect, which give access to no operation. */
export const IDENTITY_SCOPES = ['openid', 'profile', 'email', 'offline_access'] as const;
/** The claims of each scope (OpenID Connect Core, section 5.4). */
export const CLAIMS = { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] } as const;

/** The scopes that give clients access to operations of the API. */
export const API_SCOPES = ['read', 'write', 'auth:dev', 'agent:register', 'agent:execute'] as const;

export type ClientScope = (typeof IDENTITY_SCOPES)[number] | (typeof API_SCOPES)[number];

export const CLIENT_SCOPES: readonly ClientScope[] = [...IDENTITY_SCOPES, ...API_SCOPES];

/** The known scopes in a `scope` parameter, without duplicates, in a fixed order. */
export function knownScopes(scope: string | undefined): ClientScope[] {
  const words = (scope ?? '').split(' ');
  return CLIENT_SCOPES.filter((known) => words.includes(known));
}

/** The scopes of a client that requests none (RFC 6749, section 3.3): its registered ones, except for personal data. */
export function defaultScopes(registered: string | undefined): ClientScope[] {
  const scopes = knownScopes(registered);
  return API_SCOPES.filter((scope) => scope !== 'auth:dev' && scopes.includes(scope));
}
