import type { Request, RequestHandler, Response } from 'express';
import { readFormBody } from '../transport/request-body.ts';

/** What a form of a few short fields needs, and no more. */
const FORM_BYTES = 4096;
const FORM_FIELDS = 10;

/** Reads the fields of a form. */
export const readForm: RequestHandler = async (request, _response, next) => {
  request.body = (await readFormBody(request, FORM_BYTES, FORM_FIELDS)).fields;
  next();
};

/**
 * Takes forms of our own pages: what comes before whatever reads their fields.
 * @param refuse answers a form of another site
 */
export function takeForm(webUrl: () => string, refuse: (response: Response) => void): RequestHandler[] {
  return [refuseCrossSite(webUrl, refuse), readForm];
}

/** A field that was sent once; of anything else nothing. */
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
 * Whether a form is of another site. Browsers say in `Sec-Fetch-Site` where a form comes from, wherever they trust the
 * connection. Elsewhere `Origin` says it, or `null`, since these pages send no referrer: then only the secret address speaks
 * for the form.
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
