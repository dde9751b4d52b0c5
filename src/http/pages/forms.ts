import type { Request, RequestHandler, Response } from 'express';
import { readFormBody } from '../transport/request-body.ts';

/** Enough for a form of a few short fields. */
const FORM_BYTES = 4096;
const FORM_FIELDS = 10;

/** Reads the fields of a form. */
export const readForm: RequestHandler = async (request, _response, next) => {
  request.body = (await readFormBody(request, FORM_BYTES, FORM_FIELDS)).fields;
  next();
};

/**
 * Accepts the service's own forms. Runs before any handler that reads fields.
 * @param refuse responds to a form of another site
 */
export function acceptForm(webUrl: () => string, refuse: (response: Response) => void): RequestHandler[] {
  return [refuseCrossSite(webUrl, refuse), readForm];
}

/** The value of a field that was sent exactly once; empty otherwise. */
export function fieldOf(request: Request, name: string): string {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}

function refuseCrossSite(webUrl: () => string, refuse: (response: Response) => void): RequestHandler {
  return (request, response, next) => {
    if (isForeign(request, webUrl())) refuse(response);
    else next();
  };
}

/**
 * Whether a form was sent from another site. Over trusted connections, browsers send `Sec-Fetch-Site`. Elsewhere
 * `Origin` has the site, or is `null`, since these pages send no referrer: then only the secret address protects the
 * form.
 */
export function isForeign(request: Request, webUrl: string): boolean {
  const site = request.get('sec-fetch-site');
  const origin = request.get('origin');
  const own = origin === undefined || origin === 'null' || isOwn(origin, request, webUrl);
  return site === undefined ? !own : site !== 'same-origin' && site !== 'none';
}

function isOwn(origin: string, request: Request, webUrl: string): boolean {
  return origin === URL.parse(webUrl)?.origin || URL.parse(origin)?.host === request.get('host');
}
