import type { IncomingMessage } from 'node:http';
import { canonicalAddress } from '../../platform/address.ts';
import { openToOrigins } from '../transport/cors.ts';

/** Of every answer. */
export const CORS_HEADERS = openToOrigins('Idempotency-Replayed');

/** Of the answer to a preflight. */
export const PREFLIGHT_HEADERS = {
  ...CORS_HEADERS,
  Allow: 'POST',
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Session-Id, Last-Event-ID',
  'Access-Control-Max-Age': '7200',
};

/**
 * Whether a page asks that has come here by DNS rebinding: its browser takes us for its own server, so `Origin` and `Host`
 * name the same machine, by a name that is none of ours. Whoever asks from a page of another origin is held by CORS and
 * has no token; a literal address and `localhost` are nobody's to rebind.
 * @param own the addresses of this service
 */
export function isRebound({ headers }: IncomingMessage, own: readonly string[]): boolean {
  const { origin, host = '' } = headers;
  // Pages that have no address: of a file, of a sandbox.
  if (origin === undefined || origin === 'null') return false;
  const asking = URL.parse(origin);
  if (!asking) return true;
  if (asking.host === '' || asking.host !== URL.parse(`${asking.protocol}//${host}`)?.host) return false;
  const name = asking.hostname.replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost' || name.endsWith('.localhost') || canonicalAddress(name) !== undefined)
    return false;
  return !own.some((address) => URL.parse(address)?.hostname === asking.hostname);
}
