import { newApp, newNonce, newUser, unique, type App, type User } from '../support/fixtures.ts';
import type { LightResponse, LightOptions } from './load.ts';
import type { TwoProcesses } from './two-processes.ts';

/** The requests of a client program that switches and bans affect. */
export const STEPS = [
  'init',
  'register',
  'login',
  'loginV2',
  'loginLicense',
  'verify',
  'verifyV2',
  'activate',
] as const;
export type Step = (typeof STEPS)[number];

/** The result of each step: `ok`, or the code of its refusal. */
export type Outcome = Record<Step, string>;

export const ALL_OK = Object.fromEntries(STEPS.map((step) => [step, 'ok'])) as Outcome;

/** An application with a user, and what every step needs to be repeated. */
export interface Journey {
  readonly app: App;
  /** The user, who registered and redeemed a key. */
  readonly owner: User;
  /** The user's session, which each of their logins replaces. */
  readonly session: { token: string };
  /** The key that the user redeemed. */
  readonly key: string;
  /** Sends steps to both processes alternately. */
  walk(turn: number, from?: LightOptions): Promise<Outcome>;
  /** Sends one step. @param as another machine, or another key */
  step(
    name: Step,
    turn: number,
    from?: LightOptions,
    as?: { readonly hwid?: string; readonly key?: string },
  ): Promise<LightResponse>;
  /** Changes switches through both processes alternately. */
  patch(turn: number, changes: object): Promise<void>;
}

/** @param tier of the key that the owner redeems */
export async function newJourney({ client, services }: TwoProcesses, tier = 'Standard'): Promise<Journey> {
  const { api } = services[0];
  const app = await newApp(api);
  const owner = await newUser(api, app);
  const { app_id } = app;
  const [key] = await app.keys(1, tier);
  await client(0).activate(app.with({ username: owner.username, license_key: key }));
  // Enough keys for every walk. The owner gets those that a walk activates.
  const spare = await app.keys(200, tier);
  const session = { token: '' };

  const step: Journey['step'] = async (name, turn, from = {}, { hwid = owner.hwid, key: other } = {}) => {
    const at = client(turn);
    const post = (path: string, body: object) => at.post(path, body, from);
    switch (name) {
      case 'init':
        return post('/api/v1/client/init', app.with({}));
      case 'register':
        return post(
          '/api/v1/client/register',
          app.with({ username: unique('user'), password: 'a user password', hwid }),
        );
      case 'login': {
        const response = await post('/api/v1/client/login', app.with({ ...owner, hwid }));
        if (response.status === 200 && hwid === owner.hwid) session.token = String(response.body['token']);
        return response;
      }
      case 'loginV2': {
        const response = await at.signed('login', app, { ...owner, hwid, nonce: newNonce() }, from);
        if (response.status === 200 && hwid === owner.hwid) session.token = String(response.body['token']);
        return response;
      }
      case 'loginLicense': {
        const body = { license_key: other ?? key!, hwid, nonce: newNonce() };
        const response = await at.signed('login-license', app, body, from);
        if (response.status === 200 && hwid === owner.hwid) session.token = String(response.body['token']);
        return response;
      }
      case 'verify':
        return post('/api/v1/client/verify-session', { app_id, token: session.token, hwid });
      case 'verifyV2':
        return at.signed('verify-session', app, { token: session.token, hwid, nonce: newNonce() }, from);
      case 'activate':
        return post(
          '/api/v1/client/activate',
          app.with({ username: owner.username, license_key: spare.pop()! }),
        );
    }
  };

  const walk: Journey['walk'] = async (turn, from) => {
    const outcome = {} as Outcome;
    for (const name of STEPS) outcome[name] = (await step(name, turn, from)).code ?? 'ok';
    return outcome;
  };

  await walk(0);
  return {
    app,
    owner,
    session,
    key: key!,
    walk,
    step,
    async patch(turn, changes) {
      const response = await client(turn).call('PATCH', `/api/v2/dev/apps/${app_id}`, changes, app.token);
      if (response.status !== 200) throw new Error(`${JSON.stringify(changes)}: ${response.code}`);
    },
  };
}
