import type { IncomingMessage } from 'node:http';
import { canonicalAddress } from '../../platform/address.ts';
import { openToOrigins } from '../transport/cors.ts';

/** Headers of every response. */
export const CORS_HEADERS = openToOrigins('Idempotency-Replayed');

/** Headers of the response to a preflight request. */
export const PREFLIGHT_HEADERS = {
  ...CORS_HEADERS,
  Allow: 'POST',
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Session-Id, Last-Event-ID',
  'Access-Control-Max-Age': '7200',
};

/**
 * Whether a request comes from a page that reached the service by DNS rebinding. Its browser takes the service for the
 * page's own server, so `Origin` and `Host` name the same machine, by a name that is not configured. Pages of other
 * origins have no token and are stopped by CORS; literal addresses and `localhost` cannot be rebound.
 * @param own the addresses of this service
 */
export function isRebound({ headers }: IncomingMessage, own: readonly string[]): boolean {
  const { origin, host = '' } = headers;
  // Pages without an address: of a file, of a sandbox.
  if (origin === undefined || origin === 'null') return false;
  const page = URL.parse(origin);
  if (!page) return true;
  if (page.host === '' || page.host !== URL.parse(`${page.protocol}//${host}`)?.host) return false;
  const name = page.hostname.replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost' || name.endsWith('.localhost') || canonicalAddress(name) !== undefined)
    return false;
  return !own.some((address) => URL.parse(address)?.hostname === page.hostname);
}
