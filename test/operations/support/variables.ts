import { expect } from 'vitest';
import type { components } from '../../../generated/types.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import type { App } from '../../support/fixtures.ts';

type Schemas = components['schemas'];

/** The path of an application's variables, or of those of a user. */
export function variablesOf(app: Pick<App, 'app_id'>, userId?: string): string {
  const path = `/api/v2/dev/apps/${app.app_id}`;
  return userId === undefined ? `${path}/variables` : `${path}/users/${userId}/variables`;
}

/** Sets a variable of the application, and expects success. */
export async function setVariable(
  api: Api,
  app: App,
  name: string,
  value: string,
  visibility: Schemas['VariableVisibility'] = 'public',
): Promise<Schemas['VariableResult']> {
  const response = await putVariable(api, app, name, { value, visibility });
  expect(response.status).toBe(200);
  return response.body;
}

/** Tries to set a variable of the application. */
export function putVariable(
  api: Api,
  app: App,
  name: string,
  body: unknown,
): Promise<ApiResponse<Schemas['VariableResult']>> {
  return api.call('PUT', `${variablesOf(app)}/${name}`, body, { token: app.token });
}

/** Tries to set a variable of a user. */
export function putUserVariable(
  api: Api,
  app: App,
  userId: string,
  name: string,
  value: string,
): Promise<ApiResponse<Schemas['UserVariableResult']>> {
  return api.call('PUT', `${variablesOf(app, userId)}/${name}`, { value }, { token: app.token });
}

/** The variables that a client program sees, by name. */
export async function seen(api: Api, app: App, token?: string): Promise<Record<string, string>> {
  const path = `/api/v2/client/apps/${app.app_id}/variables`;
  const { status, body } = await api.call<Schemas['ClientVariableList']>('GET', path, undefined, { token });
  expect(status).toBe(200);
  return Object.fromEntries(body.data.map(({ name, value }) => [name, value]));
}

/** The developer's audit log of changes of an application's variables, the latest first. */
export async function auditOf(api: Api, app: App): Promise<object[]> {
  const path = `/api/v2/dev/audit-log?app_id=${app.app_id}`;
  const { body } = await api.call<Schemas['AuditEntryList']>('GET', path, undefined, { token: app.token });
  return body.data;
}
