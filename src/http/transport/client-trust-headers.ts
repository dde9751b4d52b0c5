import type { IncomingMessage } from 'node:http';
import { pathOf, searchOf } from './target.ts';

/** The paths of the operations for programs, whose responses are signed on request. */
const CLIENT_PATH = /^\/api\/v[12]\/client\//;
const NONCE = /^[A-Za-z0-9_-]{16,64}$/;

/** What a program sends to receive a signed response. */
export interface ClientTrustHeaders {
  readonly appId: string;
  readonly nonce: string;
  /** The device that claims to have signed the request. */
  readonly deviceId: string | undefined;
}

/**
 * Reads the headers of a request for a signed response.
 * @returns undefined for a request without both headers, or to another kind of operation; `malformed` for a nonce that
 *   is not valid
 */
export function readClientTrustHeaders(
  request: IncomingMessage,
): ClientTrustHeaders | 'malformed' | undefined {
  const { 'latchkey-nonce': nonce, 'latchkey-app': appId, 'latchkey-device': deviceId } = request.headers;
  if (typeof nonce !== 'string' || typeof appId !== 'string' || !CLIENT_PATH.test(pathOf(request)))
    return undefined;
  if (!NONCE.test(nonce)) return 'malformed';
  return { appId, nonce, deviceId: typeof deviceId === 'string' ? deviceId : undefined };
}

/** A component of an HTTP message (RFC 9421, section 2), with its value. */
export type Component = readonly [name: string, value: string];

/**
 * The components of a request that signatures cover, in their order. A header that the request does not have is left
 * out.
 * @param names of headers
 */
export function requestComponents(request: IncomingMessage, names: readonly string[]): Component[] {
  const components: Component[] = [
    ['@method', request.method!],
    ['@path', pathOf(request)],
    ['@query', `?${searchOf(request)}`],
  ];
  for (const name of names) {
    const value = request.headers[name];
    if (typeof value === 'string') components.push([name, value]);
  }
  return components;
}

/** The parameters of a signature (RFC 9421, section 2.3): the covered components, and what follows them. */
export function signatureParameters(identifiers: readonly string[], parameters: string): string {
  return `(${identifiers.join(' ')})${parameters}`;
}

/**
 * The signature base (RFC 9421, section 2.5).
 * @param components identifiers with their values
 * @param parameters as `signatureParameters` returns them
 */
export function signatureBase(components: readonly Component[], parameters: string): string {
  let base = '';
  for (const [identifier, value] of components) base += `${identifier}: ${value}\n`;
  return `${base}"@signature-params": ${parameters}`;
}
