import type { Handler } from '../handler.ts';

export const initApplication: Handler<'initApplication'> = async ({ body, client }, { applications }) => {
  const handshake = await applications.init({
    appId: body.app_id,
    secret: body.secret,
    version: body.version,
    executableHash: body.executable_hash,
    client,
  });
  return {
    status: 200,
    body: {
      status: 'success',
      session_id: handshake.sessionId,
      app_name: handshake.name,
      status_code: handshake.statusCode,
      ...(handshake.statusCode === 'update_required' &&
        handshake.downloadUrl !== null && { download_url: handshake.downloadUrl }),
    },
  };
};
