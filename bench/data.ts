import { hash } from 'node:crypto';
import { generateLicenseKey } from '../src/licensing/licenses/license-key.ts';

/*
 * Records are made from their numbers, by the seeder in SQL (tables.ts) and by the load generator here, so that
 * neither passes them to the other or keeps millions of them in memory.
 */

/** The application of all users, with its secret. */
export interface App {
  readonly app_id: string;
  readonly secret: string;
  /** The developer's bearer token. */
  readonly token: string;
}

/** What a database is filled with, besides the users who log in and redeem. */
export interface Size {
  readonly sessions: number;
  /** Unused license keys. */
  readonly licenses: number;
  /** Whether every session is bound to a device. */
  readonly devices?: boolean;
}

/** The users and sessions that the load generator can act for. */
export interface Population extends Size {
  readonly app: App;
}

/** The first users log in. They have no seeded session: a login ends the sessions of its machine. */
export const LOGIN_USERS = 1_000;
/** The next ones redeem license keys, so that the subscriptions of the others stay as they are. */
export const REDEEMING_USERS = 10_000;
/** The users of sessions come after both. */
export const FIRST_SESSION_USER = LOGIN_USERS + REDEEMING_USERS;
/** As many as an application allows by default. */
export const SESSIONS_A_USER = 5;
/** The number of shared machines: user n uses machine n modulo this. */
export const MACHINES = 1_000;

export const PASSWORD = 'correct horse battery staple';

/** Digits in a row: the service knows handles by their digests, so theirs need not be random. */
function digits(number: number, length: number): string {
  return String(number).padStart(length, '0');
}

export function userCount(sessions: number): number {
  return FIRST_SESSION_USER + Math.ceil(sessions / SESSIONS_A_USER);
}

export function usernameOf(user: number): string {
  return `user-${user}`;
}

/** In TypeID form, in the order of creation as real ones are. */
export function userIdOf(user: number): string {
  return `usr_01kb${digits(user, 22)}`;
}

/** The machine of a user or of a session. */
export function hwidOf(number: number): string {
  return hash('sha256', `machine ${number % MACHINES}`);
}

export function userOfSession(session: number): number {
  return FIRST_SESSION_USER + Math.floor(session / SESSIONS_A_USER);
}

/** 128 bits in base64url, the form in which the service makes them. */
export function sessionIdOf(session: number): string {
  return `${digits(session, 21)}A`;
}

export const TOKEN_HEADER = Buffer.from('{"alg":"EdDSA","typ":"JWT","kid":"AAAAAAAAAAA"}').toString(
  'base64url',
);
/** The claims about the application; their times are in the future. */
export const TOKEN_ISSUER = '"iss":"http://127.0.0.1:3000"';
export const TOKEN_TIMES = '"iat":4000000000,"exp":4000086400';

/**
 * A token of the form and length of a signed one. It has no real signature: the service recognizes its own tokens by
 * their digests.
 */
export function tokenOf(appId: string, session: number): string {
  const subject = userIdOf(userOfSession(session));
  const claims = `{"sid":"${sessionIdOf(session)}","aud":"${appId}",${TOKEN_ISSUER},"sub":"${subject}",${TOKEN_TIMES}}`;
  return `${TOKEN_HEADER}.${Buffer.from(claims).toString('base64url')}.${digits(session, 85)}A`;
}

export function licenseKeyOf(license: number): string {
  const bytes = hash('sha512', `license ${license}`, 'buffer');
  return generateLicenseKey({ bytes: (size) => bytes.subarray(0, size) });
}
