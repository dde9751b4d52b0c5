import type { components } from '../../../generated/types.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import { newHwid, unique, type App, type User } from '../../support/fixtures.ts';

type Schemas = components['schemas'];

export type UserView = Schemas['User'];
export type Problem = { readonly code?: string; readonly errors?: { pointer: string; detail: string }[] };

/** The id of an absent user. */
export const ABSENT_USER = 'usr_01kazm6t0hfa8bk4n2q7r9s1vx';

/** Calls an operation on the users of an application, as its developer unless another token is given. */
export function callUsers<Body = Record<string, unknown>>(
  api: Api,
  app: Pick<App, 'app_id' | 'token'>,
  method: string,
  path = '',
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse<Body & Problem>> {
  const address = `/api/v2/dev/apps/${app.app_id}/users${path}`;
  return api.call(method, address, body, { token: app.token, headers });
}

export interface Registered extends User {
  readonly userId: string;
}

/** Registers a user, optionally with a key. */
export async function registered(api: Api, app: App, fields: object = {}): Promise<Registered> {
  const user = { username: unique('user'), password: 'a user password', hwid: newHwid(), ...fields };
  const { status, body } = await api.register(app.with(user));
  if (status !== 201) throw new Error(`register returned ${status}`);
  return { ...user, userId: String(body['user_id']) };
}

export async function viewOf(api: Api, app: App, userId: string): Promise<UserView> {
  const { status, body } = await callUsers<UserView>(api, app, 'GET', `/${userId}`);
  if (status !== 200) throw new Error(`getUser returned ${status}`);
  return body;
}

/** How many seats of the plan the application uses. */
export async function seatsOf(api: Api, { app_id, token }: App): Promise<number> {
  const { body } = await api.call<{ users: number }>('GET', `/api/v2/dev/apps/${app_id}`, undefined, {
    token,
  });
  return body.users;
}
