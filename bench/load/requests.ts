import { createHmac, randomUUID } from 'node:crypto';
import * as data from '../data.ts';
import { deviceOf, signedHeaders, type Device } from '../devices.ts';

/**
 * The kinds of requests: verifications by signed token, the same signed by the device, by token or session id
 * alternately, with the machine; logins of both versions; activations, each of an unused key.
 */
export type Mix = 'tokens' | 'signed' | 'handles' | 'machines' | 'logins' | 'loginsV2' | 'activations';

interface Request {
  readonly path: string;
  /** What only a correct response contains. */
  readonly response: string;
}

export const REQUESTS: Readonly<Record<Mix, Request>> = {
  tokens: { path: '/api/v1/client/verify-session', response: '"valid":true' },
  signed: { path: '/api/v2/client/verify-session', response: '"valid":true' },
  handles: { path: '/api/v1/client/verify-session', response: '"valid":true' },
  machines: { path: '/api/v1/client/verify-session', response: '"valid":true' },
  logins: { path: '/api/v1/client/login', response: '"session_id":"' },
  loginsV2: { path: '/api/v2/client/login', response: '"signature":"' },
  activations: { path: '/api/v1/client/activate', response: '"expires_at":"' },
};

/** The content of one request and its sender: every user has an address of their own. */
interface Message {
  readonly body: object;
  readonly user?: number;
  /** The device of its session. */
  readonly device?: Device;
}

/** @returns a maker of requests about random sessions or users, each a complete HTTP/1.1 message */
export function requestMaker({ app, sessions, licenses }: data.Population): (mix: Mix) => string {
  const hwids = Array.from({ length: data.MACHINES }, (_, machine) => data.hwidOf(machine));
  const hwidOf = (number: number) => hwids[number % data.MACHINES];
  const below = (count: number) => Math.floor(Math.random() * count);
  let turn = false;
  let nextLicense = 0;

  function verification(mix: Mix): Message {
    const session = below(sessions);
    turn = !turn;
    const byToken = mix === 'tokens' || mix === 'signed' || turn;
    const token = byToken ? data.tokenOf(app.app_id, session) : data.sessionIdOf(session);
    const device = mix === 'signed' ? { device: deviceOf(session) } : {};
    const body = { app_id: app.app_id, token, ...(mix === 'machines' && { hwid: hwidOf(session) }) };
    return { ...device, body };
  }

  function login(version: object): Message {
    const user = below(data.LOGIN_USERS);
    const credentials = { username: data.usernameOf(user), password: data.PASSWORD, hwid: hwidOf(user) };
    return { user, body: { ...version, ...credentials } };
  }

  function activation(): Message {
    if (nextLicense === licenses) throw new Error(`all ${licenses} license keys are used: seed more of them`);
    const user = data.LOGIN_USERS + below(data.REDEEMING_USERS);
    const license_key = data.licenseKeyOf(nextLicense++);
    return { user, body: { ...app, username: data.usernameOf(user), license_key } };
  }

  function messageOf(mix: Mix): Message {
    if (mix === 'logins') return login(app);
    if (mix === 'loginsV2') return login({ app_id: app.app_id, nonce: randomUUID() });
    if (mix === 'activations') return activation();
    return verification(mix);
  }

  function signature(body: string): string {
    const hmac = createHmac('sha256', app.secret).update(body).digest('hex');
    return `X-Signature: ${hmac}\r\nX-Timestamp: ${Date.now()}\r\n`;
  }

  return (mix) => {
    const { body, user, device } = messageOf(mix);
    const text = JSON.stringify(body);
    const from = user === undefined ? '' : `X-Forwarded-For: 10.0.${user >> 8}.${user & 255}\r\n`;
    const proof = device ? signedHeaders(app.app_id, REQUESTS[mix].path, text, device) : '';
    return (
      `POST ${REQUESTS[mix].path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: latchkey-bench\r\n` +
      `Accept: application/json\r\nContent-Type: application/json\r\n` +
      `${from}${proof}${mix === 'loginsV2' ? signature(text) : ''}Content-Length: ${text.length}\r\n\r\n${text}`
    );
  };
}
