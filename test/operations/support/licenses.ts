import { expect } from 'vitest';
import type { components } from '../../../generated/types.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import { newDeveloper, newHwid, newUser, unique, type App } from '../../support/fixtures.ts';
import { comparable, expectError } from './errors.ts';

type Schemas = components['schemas'];
export type License = Schemas['License'];
export type CreatedLicense = Schemas['CreateLicensesResult']['licenses'][number];

/** The members of an error response. */
type ErrorMembers = { code?: string; detail?: string; errors?: { pointer: string; detail: string }[] };

/** A developer's calls for the licenses of an application. */
export function licensesOf(api: Api, { app_id, token }: Pick<App, 'app_id'> & { token?: string }) {
  const base = `/api/v2/dev/apps/${app_id}/licenses`;
  const call = <Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    api.call<Body & ErrorMembers>(method, base + path, body, { token, ...(headers && { headers }) });
  const one = (method: string, suffix = '') => {
    return (id: string, body?: unknown, headers?: Record<string, string>) =>
      call<Schemas['LicenseResult']>(method, `/${id}${suffix}`, body, headers);
  };
  return {
    async create(amount: number, more: Partial<Schemas['CreateLicensesRequest']> = {}) {
      const wanted = { amount, tier: 'Pro', duration_days: 30, ...more };
      const { status, body } = await call<Schemas['CreateLicensesResult']>('POST', '', wanted);
      expect(status, JSON.stringify(body)).toBe(201);
      return body.licenses;
    },
    post: (body: unknown, headers?: Record<string, string>) => call<string>('POST', '', body, headers),
    list: (query = '') => call<Schemas['LicenseList']>('GET', query),
    export: (query = '') => call<string>('GET', `/export${query}`),
    exportLines: (query = '') => call<string>('GET', `/export/ndjson${query}`),
    import: (csv: string | Uint8Array, headers: Record<string, string> = {}) =>
      call<Schemas['ImportLicensesResult']>('POST', '/import', csv, {
        'content-type': 'text/csv',
        ...headers,
      }),
    extend: (body: unknown, headers?: Record<string, string>) =>
      call<Schemas['ExtendLicensesResult']>('POST', '/extend', body, headers),
    deleteUnused: (query = '?status=unused') => call<Schemas['DeleteUnusedLicensesResult']>('DELETE', query),
    get: one('GET'),
    update: one('PATCH'),
    delete: (id: string) => call<Schemas['MessageResult']>('DELETE', `/${id}`),
    ban: (id: string, body: unknown = {}, headers?: Record<string, string>) =>
      call<Schemas['BanLicenseResult']>('POST', `/${id}/ban`, body, headers),
    unban: one('POST', '/unban'),
    pause: one('POST', '/pause'),
    resume: one('POST', '/resume'),
    transfer: (id: string, username: string, headers?: Record<string, string>) =>
      one('POST', '/transfer')(id, { username }, headers),
  };
}

export type LicenseCalls = ReturnType<typeof licensesOf>;

/** A key that a new user has redeemed. */
export async function redeemed(api: Api, app: App, more: Partial<Schemas['CreateLicensesRequest']> = {}) {
  const [license] = (await licensesOf(api, app).create(1, more)) as [CreatedLicense];
  const user = await newUser(api, app);
  const response = await api.activate(
    app.with({ username: user.username, license_key: license.license_key }),
  );
  expect(response.status).toBe(200);
  return { ...license, user, expiresAt: response.body.expires_at! };
}

/** A key whose first login created its user. */
export async function licenseUser(api: Api, app: App) {
  const [license] = (await licensesOf(api, app).create(1)) as [CreatedLicense];
  const login = { app_id: app.app_id, license_key: license.license_key, hwid: newHwid() };
  const { status, body } = await api.loginWithLicense(login);
  expect(status).toBe(200);
  return { ...license, login, token: body.token };
}

/**
 * Checks an operation on one license: another developer's application and another application's license count as
 * absent, and a request without a token is refused.
 */
export async function expectForeignIsAbsent(
  api: Api,
  app: App,
  licenseId: string,
  call: (licenses: LicenseCalls, id: string) => Promise<ApiResponse<object>>,
): Promise<void> {
  const sibling = licensesOf(api, app);
  const absent = await call(sibling, 'lic_01kazm8e3rfxkb0a6t2d5v9j1m');
  expectError(absent, 404, 'LICENSE_NOT_FOUND');
  for (const id of ['nonsense', app.app_id]) {
    expect(comparable(await call(sibling, id))).toEqual(comparable(absent));
  }
  const { token } = await newDeveloper(api);
  const foreign = await call(licensesOf(api, { app_id: app.app_id, token }), licenseId);
  const nowhere = await call(licensesOf(api, { app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token }), licenseId);
  expectError(nowhere, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(foreign)).toEqual(comparable(nowhere));
  const { app_id } = app;
  expectError(await call(licensesOf(api, { app_id }), licenseId), 401, 'UNAUTHORIZED');
}

/** A token of the developer with only one scope. */
export async function scoped(api: Api, app: App, scope: string): Promise<{ app_id: string; token: string }> {
  const wanted = { name: unique('token'), scopes: [scope] };
  const { body } = await api.post<{ token: string }>('/api/v2/dev/tokens', wanted, { token: app.token });
  return { app_id: app.app_id, token: body.token };
}
