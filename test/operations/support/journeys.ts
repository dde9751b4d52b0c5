import type { components } from '../../../generated/types.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import { DAY, type TestClock } from '../../support/clock.ts';
import type { App, Developer, User } from '../../support/fixtures.ts';
import type { TestService } from '../../support/service.ts';

type Schemas = components['schemas'];

/** A session of the v2 login, whose token is encrypted. */
export async function encryptedSession(
  { services }: TestService,
  app: App,
  user: User,
): Promise<{ token: string; session_id: string }> {
  const application = await services.applications.authenticate(app.app_id, app.secret);
  const client = { address: '127.0.0.1' };
  const { session } = await services.logins.withPassword(application, user, 'encrypted', client);
  return { token: session.token, session_id: session.sessionId };
}

/** A time in the future, in wire format. */
export function inDays(clock: TestClock, days: number): string {
  return new Date(clock.now().getTime() + days * DAY).toISOString();
}

/** Verifies with a new session, because the previous one may have expired. */
export async function verifyWithNewSession(
  api: Api,
  app: App,
  user: User,
): Promise<Schemas['VerifySessionResult']> {
  const { body } = await api.login(app.with(user));
  return (await api.verify({ app_id: app.app_id, token: body.token })).body;
}

/** Changes an application with a new token of the developer, because the previous one may have expired. */
export async function patchWithNewToken(
  api: Api,
  { email, password }: Developer,
  app: App,
  changes: Schemas['UpdateApplicationRequest'],
): Promise<ApiResponse> {
  const { body } = await api.post<Schemas['DeveloperSessionResult']>('/api/v2/dev/login', {
    email,
    password,
  });
  return api.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, changes, { token: body.token });
}
