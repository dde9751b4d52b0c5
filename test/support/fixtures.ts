import { createHmac, randomBytes } from 'node:crypto';
import type { components } from '../../generated/types.ts';
import type { Api } from './api.ts';

type Schemas = components['schemas'];

/** A unique word. */
export function unique(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`;
}

/** A machine identifier, as a client computes it. */
export function newHwid(): string {
  return randomBytes(32).toString('hex');
}

/** The nonce of a request. */
export function newNonce(): string {
  return randomBytes(16).toString('hex');
}

/** Changes of a valid signature. */
export interface Signing {
  /** The client's clock. */
  readonly at: Date;
  readonly signature?: string;
  readonly timestamp?: string;
}

/**
 * A request signed like a v2 client: HMAC-SHA-256 over the bytes of the body, keyed with the application's secret.
 * @param body a string is sent unchanged
 * @returns the body and its headers, for the v2 operations of `Api`
 */
export function signed(
  { secret }: { readonly secret: string },
  body: object | string,
  { at, ...other }: Signing,
): [body: string, headers: Record<string, string>] {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { signature = createHmac('sha256', secret).update(text).digest('hex') } = other;
  const { timestamp = String(at.getTime()) } = other;
  return [text, { 'x-signature': signature, 'x-timestamp': timestamp }];
}

export interface Developer {
  readonly developerId: string;
  readonly token: string;
  readonly email: string;
  readonly password: string;
}

export async function newDeveloper(api: Api): Promise<Developer> {
  const account = { email: `${unique('dev')}@example.com`, password: 'a developer password' };
  const { body } = await api.post<Schemas['DeveloperSessionResult']>('/api/v2/dev/register', account);
  return { ...account, developerId: body.developer_id, token: body.token };
}

export interface App {
  readonly app_id: string;
  readonly secret: string;
  readonly token: string;
  /** Changes switches and settings. */
  patch(changes: Schemas['UpdateApplicationRequest']): Promise<void>;
  /** Generates keys and returns them. */
  keys(amount: number, tier?: string, durationDays?: number | null): Promise<string[]>;
  /** The body of a client request with the application's credentials. */
  with<Fields extends object>(fields: Fields): { app_id: string; secret: string } & Fields;
}

/** An application of a developer, by default a new one. */
export async function newApp(api: Api, developer?: Developer): Promise<App> {
  const { token } = developer ?? (await newDeveloper(api));
  const created = await api.post<Schemas['CreateApplicationResult']>(
    '/api/v2/dev/apps',
    { name: unique('App') },
    { token },
  );
  const { app_id, secret } = created.body;
  const path = `/api/v2/dev/apps/${app_id}`;
  return {
    app_id,
    secret,
    token,
    async patch(changes) {
      const { status } = await api.call('PATCH', path, changes, { token });
      if (status !== 200) throw new Error(`PATCH ${path} returned ${status}`);
    },
    async keys(amount, tier = 'Standard', durationDays = 30) {
      const wanted = { amount, tier, duration_days: durationDays };
      const { status, body } = await api.post<Schemas['CreateLicensesResult']>(`${path}/licenses`, wanted, {
        token,
      });
      if (status !== 201) throw new Error(`POST ${path}/licenses returned ${status}`);
      return body.licenses.map(({ license_key }) => license_key);
    },
    with: (fields) => ({ app_id, secret, ...fields }),
  };
}

/** Bans users from an application. @returns the ban's id */
export async function ban(api: Api, app: App, target: Schemas['CreateBanRequest']): Promise<string> {
  const path = `/api/v2/dev/apps/${app.app_id}/bans`;
  const { status, body } = await api.post<Schemas['BanResult']>(path, target, { token: app.token });
  if (status !== 201) throw new Error(`POST ${path} returned ${status}`);
  return body.ban_id;
}

/** Deletes a ban. */
export async function lift(api: Api, app: App, banId: string): Promise<void> {
  const path = `/api/v2/dev/apps/${app.app_id}/bans/${banId}`;
  const { status } = await api.call('DELETE', path, undefined, { token: app.token });
  if (status !== 200) throw new Error(`DELETE ${path} returned ${status}`);
}

export interface User {
  readonly username: string;
  readonly password: string;
  readonly hwid: string;
}

/** Registers a user of the application. */
export async function newUser(api: Api, app: App, fields: Partial<User> = {}): Promise<User> {
  const user = { username: unique('user'), password: 'a user password', hwid: newHwid(), ...fields };
  const { status } = await api.register(app.with(user));
  if (status !== 201) throw new Error(`register returned ${status}`);
  return user;
}

/** Registers a user and logs in. */
export async function newSession(
  api: Api,
  app: App,
): Promise<Schemas['LoginUserResult'] & { readonly owner: User }> {
  const owner = await newUser(api, app);
  const { body } = await api.login(app.with(owner));
  return { ...body, owner };
}
