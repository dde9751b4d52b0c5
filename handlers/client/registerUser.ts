import type { Handler } from '../handler.ts';

export const registerUser: Handler<'registerUser'> = async ({ body }, { applications, users }) => {
  const application = await applications.authenticate(body.app_id, body.secret);
  const userId = await users.register(application, {
    username: body.username,
    password: body.password,
    hwid: body.hwid,
    email: body.email,
    licenseKey: body.license_key,
  });
  return { status: 201, body: { status: 'success', message: 'User registered.', user_id: userId } };
};
