import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Services } from '../../services.ts';
import type { Exchange } from './exchange.ts';
import {
  readClientTrustHeaders,
  requestComponents,
  signatureBase,
  signatureParameters,
  type ClientTrustHeaders,
} from '../transport/client-trust-headers.ts';

/** How far the clock of a device may differ, in either direction. */
const SKEW_S = 300;
const HEADERS = ['content-digest', 'latchkey-app', 'latchkey-nonce', 'latchkey-device', 'authorization'];
const NO_BYTES = Buffer.alloc(0);
const CREATED = /;created=([0-9]{1,12});/;
const SIGNATURE = /^device=:([A-Za-z0-9+/]{86}==):$/;

/** Extensions of an operation about the signatures of devices. */
interface Marks {
  /** `self`: by the key that the body registers. Without the mark, signatures are ignored. */
  readonly 'x-device-signature'?: 'required' | 'optional' | 'self';
  readonly 'x-spends-nonce'?: boolean;
}

/**
 * Reads what a request says about its program.
 * @throws ApiError VALIDATION_FAILED for a nonce that is not valid, or for another application than that of the path
 */
export function readTrustHeaders(request: IncomingMessage, path: string): ClientTrustHeaders | undefined {
  const headers = readClientTrustHeaders(request);
  if (headers === 'malformed') {
    throw invalidMember('header/latchkey-nonce', 'must be 16 to 64 characters of base64url');
  }
  const [, inPath] = /\/apps\/([^/]+)\//.exec(`${path}/`) ?? [];
  if (headers && inPath !== undefined && inPath !== headers.appId) throw otherApplication();
  return headers;
}

/** What the signature of a device covers besides headers. */
interface Content {
  readonly operation: Operation;
  /** The parsed body; undefined without one. */
  readonly value: unknown;
  /** The raw body; empty without one. */
  readonly bytes: Uint8Array;
}

/**
 * Checks the signature of a device over a request, before the body is validated.
 * @param now the current time
 * @throws ApiError DEVICE_SIGNATURE_INVALID, TIMESTAMP_OUT_OF_RANGE, NONCE_REUSED; VALIDATION_FAILED for another
 *   application than that of the body
 */
async function readTrust(
  { devices, signatures }: Services,
  request: IncomingMessage,
  headers: ClientTrustHeaders | undefined,
  { operation, value, bytes }: Content,
  now: Date,
): Promise<ClientTrust | undefined> {
  const { 'x-device-signature': mode, 'x-spends-nonce': spendsNonce } = operation as Marks;
  const body = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (headers && body['app_id'] !== undefined && body['app_id'] !== headers.appId) throw otherApplication();
  // The response covers the digest of the request: it must be that of the body which the service has read.
  const hasOtherDigest = !isDigestOf(request, bytes);
  if (!headers || headers.deviceId === undefined || mode === undefined) {
    if (mode === 'required' || mode === 'self') throw new ApiError('DEVICE_SIGNATURE_INVALID');
    if (headers && hasOtherDigest) {
      throw invalidMember('header/content-digest', 'must be the SHA-256 of the body (RFC 9530)');
    }
    return headers && { appId: headers.appId, device: undefined };
  }
  const { appId, nonce, deviceId } = headers;
  const device =
    mode === 'self' ? devices.ofKey(body['alg'], body['jwk']) : await devices.find(appId, deviceId);
  if (hasOtherDigest) throw new ApiError('DEVICE_SIGNATURE_INVALID');
  // The validation of the body refuses a key that is not one.
  if (!device && mode === 'self') return { appId, device: undefined };
  if (!device || device.deviceId !== deviceId) {
    throw new ApiError('DEVICE_SIGNATURE_INVALID', { detail: 'The device is not registered.' });
  }
  const { created, base, signature } = readSignature(request, deviceId);
  if (!device.hasSigned(base, signature)) throw new ApiError('DEVICE_SIGNATURE_INVALID');
  if (Math.abs(created - now.getTime() / 1000) > SKEW_S) {
    throw new ApiError('TIMESTAMP_OUT_OF_RANGE', { members: { server_time: now.toISOString() } });
  }
  if (spendsNonce) await signatures.spendOfDevice(deviceId, nonce);
  return { appId, device: { deviceId, hwidDigest: device.hwidDigest } };
}

/** @returns checks the signature of the device over a request whose body has been read, and notes the result in it */
export function createTrustReader(services: Services, now: () => Date) {
  return async (exchange: Exchange): Promise<void> => {
    const { operation, request, trustHeaders, body, bytes = NO_BYTES } = exchange;
    exchange.trust = await readTrust(
      services,
      request,
      trustHeaders,
      { operation, value: body, bytes },
      now(),
    );
  };
}

/** @throws ApiError DEVICE_SIGNATURE_INVALID unless the signature covers exactly what it must */
function readSignature(request: IncomingMessage, deviceId: string) {
  const { 'signature-input': input, signature: sent } = request.headers;
  const created = CREATED.exec(String(input))?.[1];
  const signature = SIGNATURE.exec(String(sent))?.[1];
  if (created === undefined || signature === undefined) {
    throw new ApiError('DEVICE_SIGNATURE_INVALID');
  }
  const components = requestComponents(request, HEADERS).map(
    ([name, value]) => [`"${name}"`, value] as const,
  );
  const parameters = signatureParameters(
    components.map(([identifier]) => identifier),
    `;created=${created};keyid="${deviceId}";tag="latchkey-request"`,
  );
  if (input !== `device=${parameters}`) throw new ApiError('DEVICE_SIGNATURE_INVALID');
  return {
    created: Number(created),
    base: signatureBase(components, parameters),
    signature: Buffer.from(signature, 'base64'),
  };
}

/** Whether a request has the `Content-Digest` of its body, which one without a body may leave out. */
function isDigestOf({ headers }: IncomingMessage, bytes: Uint8Array): boolean {
  const digest = headers['content-digest'];
  if (digest === undefined) return bytes.length === 0;
  return digest === `sha-256=:${hash('sha256', bytes, 'base64')}:`;
}

function otherApplication(): ApiError {
  return invalidMember('header/latchkey-app', 'must be the application of the request');
}
