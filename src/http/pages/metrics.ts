import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { canonicalAddress } from '../../platform/address.ts';
import { isSameSecret } from '../../platform/constant-time.ts';
import type { Services } from '../../services.ts';
import { bearerToken } from '../transport/bearer.ts';

/** Headers that proxies add. */
const FORWARDED =
  /^(forwarded|via|x-(original-)?forwarded-.*|x-real-ip|(x-|true-|cf-)?(client|connecting)-ip)$/;
const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;

/**
 * Responds to a scrape of Prometheus.
 * @param options.token the bearer token that is required. Without one, only requests from this machine get a response,
 *   and only while nothing indicates a proxy; to all others the path does not exist
 * @param options.isPublic whether the configuration names a proxy in front
 */
export function createMetricsPage(
  { metrics }: Services,
  { token, isPublic }: { readonly token: string | undefined; readonly isPublic: boolean },
): RequestHandler {
  return async (request, response, next) => {
    if (token === undefined && (isPublic || !isLocal(request))) return next(new ApiError('NOT_FOUND'));
    if (token !== undefined && !isSameSecret(bearerToken(request.headers.authorization) ?? '', token)) {
      return next(new ApiError('UNAUTHORIZED'));
    }
    response
      .set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
      .type(metrics.contentType)
      .send(await metrics.text());
  };
}

function isLocal(request: IncomingMessage): boolean {
  if (Object.keys(request.headers).some((name) => FORWARDED.test(name))) return false;
  if (!LOCAL_HOST.test(request.headers.host ?? '')) return false;
  const address = canonicalAddress(request.socket.remoteAddress ?? '') ?? '';
  return address === '::1' || address.startsWith('127.');
}
