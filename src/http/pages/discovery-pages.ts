import { createHash } from 'node:crypto';
import { Router } from 'express';
import type { Services } from '../../services.ts';
import { openToOrigins } from '../transport/cors.ts';

const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Headers that a page of another origin may send, such as the protocol version of MCP clients. */
const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': '86400',
};

/** The methods of the published documents. */
export const DISCOVERY_METHODS = ['GET', 'OPTIONS'];

/** The published documents. */
export function createDiscoveryPages(discovery: Services['discovery']): Router {
  const router = Router({ caseSensitive: true, strict: true });
  // On every response, and for pages of any origin: nothing here depends on the caller.
  router.all([...discovery.paths], (_request, response, next) => {
    response.set(openToOrigins('ETag'));
    next();
  });
  for (const path of discovery.paths) {
    router.get(path, async (request, response) => {
      const { mediaType, text } = await discovery.read(path, request.headers.host);
      const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
      response.set({ ...HEADERS, ETag: etag });
      if (isKnown(etag, request.headers['if-none-match'])) return void response.status(304).end();
      // Express' own `set` adds a charset to JSON, which has no such parameter (RFC 8259, section 11).
      response.setHeader('Content-Type', mediaType);
      response.send(Buffer.from(text));
    });
    router.options(path, (_request, response) => {
      response.set(PREFLIGHT_HEADERS).status(204).end();
    });
  }
  return router;
}

/**
 * Whether the client has the current version (RFC 9110, section 13.1.2). Express' own check fails on `Cache-Control:
 * no-cache`, which Node's `fetch` sends with every conditional request.
 */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  const known = (ifNoneMatch ?? '').split(',').map((part) => part.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}
