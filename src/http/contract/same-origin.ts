import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Services } from '../../services.ts';

type Addresses = Services['addresses'];

/** Methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS = ['GET', 'HEAD'];

/**
 * Accepts requests of the service's own pages. `SameSite=Strict` alone would also let through pages of another port of
 * the same host. Browsers send `Sec-Fetch-Site` over trusted connections; elsewhere, `Origin` decides.
 * @throws ApiError CROSS_ORIGIN_REQUEST
 */
export function assertSameOrigin({ method = '', headers }: IncomingMessage, addresses: Addresses): void {
  const isSafe = SAFE_METHODS.includes(method);
  const { 'sec-fetch-site': site, origin } = headers;
  if (site !== undefined) {
    // `none` is a request that the user made, such as from the address bar.
    if (site === 'same-origin' || (isSafe && site === 'none')) return;
  } else if (origin === undefined) {
    if (isSafe) return;
  } else if (isOwn(origin, addresses)) {
    return;
  }
  throw new ApiError('CROSS_ORIGIN_REQUEST');
}

function isOwn(origin: string, addresses: Addresses): boolean {
  return [addresses.web(), addresses.issuer()].some((address) => URL.parse(address)?.origin === origin);
}
