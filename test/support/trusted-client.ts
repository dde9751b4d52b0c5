import { createHash, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto';
import type { components } from '../../generated/types.ts';
import type { Api, ApiResponse } from './api.ts';
import { newHwid, type App } from './fixtures.ts';

type Schemas = components['schemas'];

/** A device with its key, as a program creates it. */
export interface TestDevice {
  readonly deviceId: string;
  readonly alg: 'EdDSA' | 'ES256';
  readonly jwk: Schemas['DeviceJwk'];
  readonly hwid: string;
  readonly key: KeyObject;
}

/** Creates a device. It is not registered. */
export function newDevice(alg: TestDevice['alg'] = 'EdDSA', hwid = newHwid()): TestDevice {
  const { publicKey, privateKey } =
    alg === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  const jwk = { kty, crv, x, ...(y !== undefined && { y }) } as Schemas['DeviceJwk'];
  const canonical = JSON.stringify({ crv, kty, x, ...(y !== undefined && { y }) });
  const deviceId = `dev_${createHash('sha256').update(canonical).digest('base64url')}`;
  return { deviceId, alg, jwk, hwid, key: privateKey };
}

/** How a request differs from that of a correct program. */
export interface Deviations {
  /** Replaces or, with undefined, removes headers after the request was signed. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The clock of the device. */
  readonly at?: Date;
  readonly nonce?: string;
  readonly token?: string;
  /** The application that signs the response. */
  readonly appId?: string;
}

/** A request as it is sent. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const digestOf = (body: string | Uint8Array) =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

/** The headers of a request that requests a signed response, signed by a device if there is one. */
export function trustedHeaders(
  appId: string,
  { method, path }: { readonly method: string; readonly path: string },
  body: string | undefined,
  device: TestDevice | undefined,
  { at, nonce = newHwid().slice(0, 32), token, headers: changed = {} }: Deviations & { readonly at: Date },
): Record<string, string> {
  const headers: Record<string, string> = {
    ...(body !== undefined && { 'content-digest': digestOf(body) }),
    'latchkey-app': appId,
    'latchkey-nonce': nonce,
    ...(device && { 'latchkey-device': device.deviceId }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  if (device) {
    const [target, query = ''] = path.split('?');
    const values = { '@method': method, '@path': target!, '@query': `?${query}`, ...headers };
    const list = Object.keys(values).map((name) => `"${name}"`);
    const created = Math.floor(at.getTime() / 1000);
    const parameters = `(${list.join(' ')});created=${created};keyid="${device.deviceId}";tag="latchkey-request"`;
    const lines = Object.entries(values).map(([name, value]) => `"${name}": ${value}`);
    const base = [...lines, `"@signature-params": ${parameters}`].join('\n');
    const signature =
      device.alg === 'EdDSA'
        ? sign(null, Buffer.from(base), device.key)
        : sign('sha256', Buffer.from(base), { key: device.key, dsaEncoding: 'ieee-p1363' });
    headers['signature-input'] = `device=${parameters}`;
    headers['signature'] = `device=:${signature.toString('base64')}:`;
  }
  const sent = Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(sent) as Record<string, string>;
}

/**
 * Whether a response is signed by a pinned key for this request, as a program checks it.
 * @param text the body; undefined for a response without one
 * @returns what is wrong; undefined if nothing is
 */
export function faultOfResponse(
  pinned: readonly Pick<Schemas['ApplicationSigningKey'], 'kid' | 'public_key'>[],
  { method, path, headers: sent }: Sent,
  { status, headers, text }: { readonly status: number; readonly headers: Headers; readonly text: string },
): string | undefined {
  const input = headers.get('signature-input') ?? '';
  const isKnown = input.endsWith(';alg="ed25519";tag="latchkey-answer"');
  const [, created, kid] = (isKnown && /;created=(\d+);keyid="([^"]+)";/.exec(input)) || [];
  if (created === undefined) return 'unsigned';
  const key = pinned.find((each) => each.kid === kid);
  if (!key) return 'foreign key';
  const [target, query = ''] = path.split('?');
  const names =
    'content-digest repr-digest content-range content-type etag retry-after idempotency-replayed latchkey-app'.split(
      ' ',
    );
  const components = [
    ['"@status"', String(status)],
    ...names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[`"${name}"`, value]];
    }),
    ['"@method";req', method],
    ['"@path";req', target!],
    ['"@query";req', `?${query}`],
    ...['content-digest', 'latchkey-nonce', 'latchkey-device', 'idempotency-key'].flatMap((name) =>
      sent[name] === undefined ? [] : [[`"${name}";req`, sent[name]]],
    ),
  ];
  const list = components.map(([name]) => name).join(' ');
  const parameters = `(${list});created=${created};keyid="${kid}";alg="ed25519";tag="latchkey-answer"`;
  if (input !== `latchkey=${parameters}`) return 'other components';
  const base = [
    ...components.map(([name, value]) => `${name}: ${value}`),
    `"@signature-params": ${parameters}`,
  ];
  const [, signature = ''] = /^latchkey=:(.+):$/.exec(headers.get('signature') ?? '') ?? [];
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.public_key };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  if (!verify(null, Buffer.from(base.join('\n')), publicKey, Buffer.from(signature, 'base64')))
    return 'forged';
  // The events of a stream are not signed, and a file has the digest of its whole content.
  const isCovered =
    headers.get('content-type')?.startsWith('text/event-stream') || headers.has('repr-digest');
  if (method === 'HEAD' || text === '' || isCovered) return undefined;
  return headers.get('content-digest') === digestOf(text) ? undefined : 'other body';
}

/** A program that trusts only signed responses, on a device. */
export interface TrustedClient {
  readonly app: App;
  readonly device: TestDevice;
  /** Sends a request as a program does, and throws unless the response is signed. */
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: object | string,
    deviations?: Deviations,
  ): Promise<ApiResponse<Body>>;
}

/**
 * Creates a program of an application on a registered device.
 * @param now the clock of the service
 */
export async function newTrustedClient(
  api: Api,
  app: App,
  now: () => Date,
  device: TestDevice = newDevice(),
): Promise<TrustedClient> {
  const path = `/api/v2/dev/apps/${app.app_id}/signing-keys`;
  const keys = await api.call<Schemas['ApplicationSigningKeyList']>('GET', path, undefined, app);
  const pinned = keys.body.data;

  const call: TrustedClient['call'] = async (method, at, body, deviations = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const { appId = app.app_id } = deviations;
    const headers = trustedHeaders(appId, { method, path: at }, text, device, { at: now(), ...deviations });
    const response = await api.call<never>(method, at, text, { headers });
    const received = { ...response, text: response.text! };
    const fault = faultOfResponse(pinned, { method, path: at, headers }, received);
    if (fault !== undefined) throw new Error(`${method} ${at} ${response.status}: ${fault}`);
    return response;
  };
  const { hwid, alg, jwk } = device;
  await call('POST', '/api/v2/client/devices', { app_id: app.app_id, hwid, alg, jwk });
  return { app, device, call };
}

/** Registers a user with a trusted client, and logs in. */
export async function newTrustedSession(client: TrustedClient) {
  const { app, device, call } = client;
  const user = { username: `user-${newHwid().slice(0, 12)}`, password: 'a user password', hwid: device.hwid };
  const credentials = { app_id: app.app_id, ...user };
  await call('POST', '/api/v2/client/register', credentials);
  const { body } = await call<Schemas['DeviceSessionResult']>(
    'POST',
    '/api/v2/client/login-password',
    credentials,
  );
  return { ...body, user };
}
