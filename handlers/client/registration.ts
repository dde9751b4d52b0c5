import type { Application } from '../../src/accounts/applications/applications.ts';
import type { Services } from '../../src/services.ts';
import type { HandlerRequest } from '../handler.ts';

/** Registers a user. */
export async function register(
  application: Application,
  { body, client }: Pick<HandlerRequest<'registerUserV2'>, 'body' | 'client'>,
  { users }: Pick<Services, 'users'>,
) {
  const user = {
    username: body.username,
    password: body.password,
    hwid: body.hwid,
    email: body.email,
    licenseKey: body.license_key,
  };
  const userId = await users.register(application, user, client);
  return {
    status: 201,
    body: { status: 'success', message: 'User registered.', user_id: userId },
  } as const;
}
