import { createHash } from 'node:crypto';

/** How many sessions there are to verify. */
export const SESSIONS = 100_000;
/** Whose sessions they are: two a user. */
export const SESSION_USERS = SESSIONS / 2;
/** Users who log in. They have no seeded session: a login ends the sessions of its machine. */
export const LOGIN_USERS = 1_000;
export const USERS = SESSION_USERS + LOGIN_USERS;

/** The application of all users, with its secret. */
export interface App {
  readonly app_id: string;
  readonly secret: string;
}

export const PASSWORD = 'correct horse battery staple';

/** Seeder and load generator make the same data from its number, so neither hands it to the other. */
function bytesOf(kind: string, index: number): Buffer {
  return createHash('sha512').update(`${kind} ${index}`).digest();
}

export function usernameOf(user: number): string {
  return `user-${user}`;
}

/** In TypeID form. */
export function userIdOf(user: number): string {
  return `usr_01kb${bytesOf('user', user).toString('hex', 0, 11)}`;
}

export function hwidOf(user: number): string {
  return bytesOf('machine', user).toString('hex', 0, 32);
}

export function userOfSession(session: number): number {
  return session % SESSION_USERS;
}

/** 128 bits in base64url, as the service makes them. */
export function sessionIdOf(session: number): string {
  return bytesOf('session', session).toString('base64url', 0, 16);
}

/**
 * A token of the form and length of a signed one. Its signature is none: the service knows a token of its own by its
 * digest.
 */
export function tokenOf(appId: string, session: number): string {
  const header = { alg: 'EdDSA', typ: 'JWT', kid: 'AAAAAAAAAAA' };
  const claims = {
    sid: sessionIdOf(session),
    aud: appId,
    iss: 'http://127.0.0.1:3000',
    sub: userIdOf(userOfSession(session)),
    iat: 1_800_000_000,
    exp: 1_800_086_400,
  };
  const parts = [JSON.stringify(header), JSON.stringify(claims)].map((part) => Buffer.from(part));
  return [...parts, bytesOf('signature', session)].map((part) => part.toString('base64url')).join('.');
}
