import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Services } from '../../services.ts';
import {
  readClientTrustHeaders,
  requestComponents,
  signatureBase,
  signatureParameters,
} from '../transport/client-trust-headers.ts';
import type { HttpResponse } from '../transport/response.ts';

/** Headers of a response that its signature covers if it has them, in this order. */
const COVERED = [
  'content-digest',
  'repr-digest',
  'content-range',
  'content-type',
  'etag',
  'retry-after',
  'idempotency-replayed',
];
/** Headers of the request that it covers if the request has them. */
const COVERED_OF_REQUEST = ['content-digest', 'latchkey-nonce', 'latchkey-device', 'idempotency-key'];
/** How long the response of a service that may have lost its database waits for the key. */
const FOUND_WITHIN_MS = 300;

interface Dependencies {
  readonly applicationKeys: Pick<Services['applicationKeys'], 'signerOf' | 'lastSignerOf'>;
  readonly clock: Clock;
}

/**
 * Signs responses with the key of the application that the request names (RFC 9421, RFC 9530), if the request has the
 * headers for it.
 * @returns the response with its signature, or unchanged if no signature was requested or none is possible
 */
export function createResponseSigner({ applicationKeys, clock }: Dependencies) {
  /** Without a database, a response is signed with the key that has last signed on this node. */
  async function signerOf(appId: string, status: number) {
    const last = applicationKeys.lastSignerOf(appId);
    const found = applicationKeys.signerOf(appId).catch(() => last);
    if (status < 500) return found;
    return Promise.race([found, delay(FOUND_WITHIN_MS, last, { ref: false })]);
  }

  return async (request: IncomingMessage, response: HttpResponse): Promise<HttpResponse> => {
    const trust = readClientTrustHeaders(request);
    if (trust === undefined || trust === 'malformed') return response;
    const signer = await signerOf(trust.appId, response.status);
    if (!signer) return response;

    const { mediaType, stream } = response;
    const hasText = !stream && mediaType !== undefined;
    const text = hasText ? (response.text ?? JSON.stringify(response.body)) : undefined;
    const headers = {
      ...response.headers,
      ...(text !== undefined && { 'Content-Digest': `sha-256=:${hash('sha256', text, 'base64')}:` }),
      'Latchkey-App': trust.appId,
    };
    const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    if (mediaType !== undefined) byName.set('content-type', mediaType);
    const components = [
      ['"@status"', String(response.status)] as const,
      ...[...COVERED, 'latchkey-app'].flatMap((name) => {
        const value = byName.get(name);
        return value === undefined ? [] : [[`"${name}"`, value] as const];
      }),
      ...requestComponents(request, COVERED_OF_REQUEST).map(
        ([name, value]) => [`"${name}";req`, value] as const,
      ),
    ];
    const created = Math.floor(clock.now().getTime() / 1000);
    const parameters = signatureParameters(
      components.map(([identifier]) => identifier),
      `;created=${created};keyid="${signer.kid}";alg="ed25519";tag="latchkey-answer"`,
    );
    const signature = signer.sign(signatureBase(components, parameters)).toString('base64');
    const signed = { 'Signature-Input': `latchkey=${parameters}`, Signature: `latchkey=:${signature}:` };
    return { ...response, text, headers: { ...headers, ...signed } };
  };
}
