export type { Authorization, Authorizations } from './authorizations.ts';
export type { OAuthClient, OAuthClients } from './clients.ts';
export { createAuthorizations } from './authorizations.ts';
export { createOAuthClients } from './clients.ts';
