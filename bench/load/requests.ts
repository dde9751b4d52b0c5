import * as data from '../data.ts';

/** What is asked: verifications by signed token, by token or session id in turn, these with the machine, or logins. */
export type Mix = 'tokens' | 'handles' | 'machines' | 'logins';

const PATHS: Readonly<Record<Mix, string>> = {
  tokens: '/api/v1/client/verify-session',
  handles: '/api/v1/client/verify-session',
  machines: '/api/v1/client/verify-session',
  logins: '/api/v1/client/login',
};

/** @returns a maker of requests about random sessions or users, each a complete HTTP/1.1 message */
export function requestMaker(app: data.App): (mix: Mix) => string {
  const sessions = Array.from({ length: data.SESSIONS }, (_, session) => session);
  const tokens = sessions.map((session) => data.tokenOf(app.app_id, session));
  const sessionIds = sessions.map(data.sessionIdOf);
  const machines = sessions.map((session) => data.hwidOf(data.userOfSession(session)));
  let turn = false;

  function bodyOf(mix: Mix): object {
    if (mix === 'logins') {
      const user = data.SESSION_USERS + Math.floor(Math.random() * data.LOGIN_USERS);
      const credentials = { username: data.usernameOf(user), password: data.PASSWORD };
      return { ...app, ...credentials, hwid: data.hwidOf(user) };
    }
    const session = Math.floor(Math.random() * data.SESSIONS);
    turn = !turn;
    const token = mix === 'tokens' || turn ? tokens[session] : sessionIds[session];
    return { app_id: app.app_id, token, ...(mix === 'machines' && { hwid: machines[session] }) };
  }

  return (mix) => {
    const body = JSON.stringify(bodyOf(mix));
    return (
      `POST ${PATHS[mix]} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: latchkey-bench\r\nAccept: application/json\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    );
  };
}
