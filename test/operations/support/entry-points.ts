import type { ApiResponse } from '../../support/api.ts';
import { newNonce, newUser, signed, unique, type App, type User } from '../../support/fixtures.ts';
import type { TestService } from '../../support/service.ts';

/** An end user of an application with a session of each version and a redeemed key. */
export interface Guest extends User {
  readonly userId: string;
  readonly token: string;
  readonly encryptedToken: string;
  readonly licenseKey: string;
}

/** Registers a user with a key and logs in both ways, on two machines, because sessions of one replace each other. */
export async function newGuest({ api, clock }: TestService, app: App): Promise<Guest> {
  const [licenseKey] = (await app.keys(1, 'Pro', 30)) as [string];
  const user = await newUser(api, app, { license_key: licenseKey } as object);
  const first = await api.login(app.with(user));
  const request = { app_id: app.app_id, ...user, nonce: newNonce() };
  const { body } = await api.loginV2(...signed(app, request, { at: clock.now() }));
  return {
    ...user,
    userId: first.body.user!.id!,
    token: first.body.token,
    encryptedToken: body.token,
    licenseKey,
  };
}

/** The operations that admit or refuse an end user of an application. */
export const ENTRY_POINTS = [
  'initApplication',
  'registerUser',
  'loginUser',
  'loginUserV2',
  'loginWithLicense',
  'verifySession',
  'verifySessionV2',
  'activateLicense',
] as const;

export type EntryPoint = (typeof ENTRY_POINTS)[number];

/**
 * Calls one of them as a guest on their own machine.
 * @param headers of the request besides its signature
 */
export async function callEntryPoint(
  entryPoint: EntryPoint,
  { api, clock }: Pick<TestService, 'api' | 'clock'>,
  app: App,
  guest: Guest,
  headers: Record<string, string> = {},
): Promise<ApiResponse<{ code?: string }>> {
  const { app_id } = app;
  const { username, password, hwid, encryptedToken, licenseKey } = guest;
  const post = (path: string, body: object | string, more: Record<string, string> = {}) =>
    api.post<{ code?: string }>(path, body, { headers: { ...headers, ...more } });
  switch (entryPoint) {
    case 'initApplication':
      return post('/api/v1/client/init', app.with({}));
    case 'registerUser':
      return post('/api/v1/client/register', app.with({ username: unique('user'), password, hwid }));
    case 'loginUser':
      return post('/api/v1/client/login', app.with({ username, password, hwid }));
    case 'loginUserV2': {
      const request = { app_id, username, password, hwid, nonce: newNonce() };
      return post('/api/v2/client/login', ...signed(app, request, { at: clock.now() }));
    }
    case 'loginWithLicense':
      return post('/api/v2/client/login-license', { app_id, license_key: licenseKey, hwid });
    case 'verifySession':
      return post('/api/v1/client/verify-session', { app_id, token: encryptedToken });
    case 'verifySessionV2':
      return post('/api/v2/client/verify-session', { app_id, token: encryptedToken });
    case 'activateLicense': {
      const [license_key] = (await app.keys(1, 'Pro', 30)) as [string];
      return post('/api/v1/client/activate', app.with({ username, license_key }));
    }
  }
}

/** The outcome at every entry point, each with a new guest: `ok`, or the code of the refusal. */
export async function callEveryEntryPoint(
  service: Pick<TestService, 'api' | 'clock'>,
  app: App,
  guests: Readonly<Record<EntryPoint, Guest>>,
  headers?: Record<string, string>,
): Promise<Record<EntryPoint, string>> {
  const outcomes: [string, string][] = [];
  for (const entryPoint of ENTRY_POINTS) {
    const { status, body } = await callEntryPoint(entryPoint, service, app, guests[entryPoint], headers);
    outcomes.push([entryPoint, status < 300 ? 'ok' : `${status} ${body.code}`]);
  }
  return Object.fromEntries(outcomes) as Record<EntryPoint, string>;
}

/** A guest for each entry point, so that the calls do not affect each other. */
export async function guestsOf(service: TestService, app: App): Promise<Record<EntryPoint, Guest>> {
  const guests: [string, Guest][] = [];
  for (const entryPoint of ENTRY_POINTS) guests.push([entryPoint, await newGuest(service, app)]);
  return Object.fromEntries(guests) as Record<EntryPoint, Guest>;
}

/** The same outcome at every entry point, except for those that are given. */
export function everywhere(
  outcome: string,
  but: Partial<Record<EntryPoint, string>> = {},
): Record<EntryPoint, string> {
  return {
    ...(Object.fromEntries(ENTRY_POINTS.map((entryPoint) => [entryPoint, outcome])) as Record<
      EntryPoint,
      string
    >),
    ...but,
  };
}
