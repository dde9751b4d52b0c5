import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { ApiError } from '../errors/api-error.ts';
import { canonicalAddress } from '../platform/address.ts';
import type { Services } from '../services.ts';
import { bearerToken } from './bearer.ts';

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Answers a scrape of Prometheus.
 * @param token the bearer token that is demanded; without one only this machine gets an answer, and nothing that a proxy
 *   forwards: to everybody else the address does not exist
 */
export function createMetricsPage({ metrics }: Services, token: string | undefined): RequestHandler {
  return async (request, response, next) => {
    if (token === undefined && !isLocal(request)) return next(new ApiError('NOT_FOUND'));
    if (token !== undefined && !isToken(bearerToken(request.headers.authorization), token)) {
      return next(new ApiError('UNAUTHORIZED'));
    }
    response
      .set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
      .type(metrics.contentType)
      .send(await metrics.text());
  };
}

function isLocal(request: IncomingMessage): boolean {
  if (FORWARDED.some((name) => request.headers[name] !== undefined)) return false;
  const address = canonicalAddress(request.socket.remoteAddress ?? '') ?? '';
  return address === '::1' || address.startsWith('127.');
}

function isToken(given: string | undefined, token: string): boolean {
  return given !== undefined && timingSafeEqual(sha256(given), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
