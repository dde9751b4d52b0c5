import { hash, sign, type KeyObject } from 'node:crypto';
import { newKeyPair, readPrivateKey } from '../src/accounts/application-keys/ed25519.ts';
import { MACHINES } from './data.ts';

/** A device with its Ed25519 key, made from its number. */
export interface Device {
  readonly deviceId: string;
  readonly publicKey: Buffer;
  readonly key: KeyObject;
}

const made = new Map<number, Device>();

/** The device of a session: as many as machines. */
export function deviceOf(number: number): Device {
  const device = made.get(number % MACHINES) ?? makeDevice(number % MACHINES);
  made.set(number % MACHINES, device);
  return device;
}

function makeDevice(number: number): Device {
  const seed = hash('sha256', `device ${number}`, 'buffer');
  const { kid, publicKey, privateKey } = newKeyPair({ bytes: () => seed });
  return { deviceId: `dev_${kid}`, publicKey, key: readPrivateKey(privateKey) };
}

let nonce = 0;

/** The headers of a request without a query that a device signs, each with its end of line. */
export function signedHeaders(appId: string, path: string, body: string, { deviceId, key }: Device): string {
  const values = {
    'content-digest': `sha-256=:${hash('sha256', body, 'base64')}:`,
    'latchkey-app': appId,
    'latchkey-nonce': String((nonce += 1)).padStart(22, '0'),
    'latchkey-device': deviceId,
  };
  const all = { '@method': 'POST', '@path': path, '@query': '?', ...values };
  const list = Object.keys(all).map((name) => `"${name}"`);
  const created = Math.floor(Date.now() / 1000);
  const parameters = `(${list.join(' ')});created=${created};keyid="${deviceId}";tag="latchkey-request"`;
  const lines = Object.entries(all).map(([name, value]) => `"${name}": ${value}`);
  const base = [...lines, `"@signature-params": ${parameters}`].join('\n');
  const signature = sign(null, Buffer.from(base), key).toString('base64');
  const headers = {
    ...values,
    'signature-input': `device=${parameters}`,
    signature: `device=:${signature}:`,
  };
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}
