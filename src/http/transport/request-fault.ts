import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../foundation/errors/api-error.ts';

const VALID_HOST = /^[^\s/?#@\\]*$/;

/**
 * Normalizes the target of a request to origin form: absolute form (RFC 9112, section 3.2.2) means the same as its path
 * and query. A target of another form is left unchanged.
 */
export function normalizeTarget(request: IncomingMessage): void {
  if (!request.url!.startsWith('/')) request.url = originForm(request.url!) ?? request.url!;
}

/**
 * Finds what is wrong with the head of a request that Node's parser accepted.
 * @returns undefined for a valid head
 */
export function requestFault(request: IncomingMessage): ApiError | undefined {
  if (!request.url!.startsWith('/')) return malformed('The request target does not belong to this server.');
  const { host = '', 'transfer-encoding': coding } = request.headers;
  const hosts = countHeader(request, 'host');
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
    return malformed('The request must have exactly one Host header.');
  }
  if (countHeader(request, 'authorization') > 1)
    return malformed('The request has more than one Authorization header.');
  if (!VALID_HOST.test(host)) return malformed('The Host header is not valid.');
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || request.httpVersion === '1.0')) {
    return malformed('The transfer coding must be chunked, in HTTP/1.1.');
  }
  return undefined;
}

function malformed(detail: string): ApiError {
  return new ApiError('MALFORMED_REQUEST', { detail });
}

function originForm(target: string): string | undefined {
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return undefined;
  return target.replace(/^https?:\/\/[^/?]*/i, '').replace(/^(?!\/)/, '/');
}

/** How often a header was sent: Node keeps only the first of some headers. @param name in lower case */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index]!;
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count;
}
