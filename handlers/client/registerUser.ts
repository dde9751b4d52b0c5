import type { Handler } from '../handler.ts';

export const registerUser: Handler<'registerUser'> = async ({ body, client }, { applications, users }) => {
  const application = await applications.authenticate(body.app_id, body.secret);
  const user = {
    username: body.username,
    password: body.password,
    hwid: body.hwid,
    email: body.email,
    licenseKey: body.license_key,
  };
  const userId = await users.register(application, user, client);
  return { status: 201, body: { status: 'success', message: 'User registered.', user_id: userId } };
};
