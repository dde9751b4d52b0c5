import express, { type ErrorRequestHandler, type Express } from 'express';
import { catalogue, errorSlug, isErrorCode, type ErrorCode } from '../errors/catalogue.ts';
import { ApiError } from '../errors/api-error.ts';
import { errorIndexPage, errorPage, homePage } from './html.ts';

/** Pages are ours alone: no script, nothing from elsewhere, in nobody's frame. */
const PAGE_HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Everything that is not an operation of the contract: pages for people, and the contract itself.
 * @param contractDocument the contract as it is served at `/openapi.json`
 * @param onError answers what is not found or fails
 */
export function createPages(contractDocument: () => object, onError: ErrorRequestHandler): Express {
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');

  app.get('/', (_request, response) => {
    response.set(PAGE_HEADERS).type('html').send(homePage());
  });
  app.get('/openapi.json', (_request, response) => {
    response.set({ ...PAGE_HEADERS, 'Access-Control-Allow-Origin': '*' }).json(contractDocument());
  });
  app.get('/errors', (_request, response) => {
    response
      .set(PAGE_HEADERS)
      .type('html')
      .send(errorIndexPage(Object.keys(catalogue) as ErrorCode[]));
  });
  app.get('/errors/:slug', (request, response, next) => {
    const code = request.params.slug.toUpperCase().replaceAll('-', '_');
    if (!isErrorCode(code) || errorSlug(code) !== request.params.slug) return next();
    response.set(PAGE_HEADERS).type('html').send(errorPage(code));
  });
  app.all(['/', '/openapi.json', '/errors', '/errors/:slug'], (request, _response, next) => {
    next(request.method === 'GET' || request.method === 'HEAD' ? undefined : new MethodNotAllowed(['GET']));
  });
  app.use((_request, _response, next) => next(new ApiError('NOT_FOUND')));
  app.use(onError);
  return app;
}

/** The path exists, but not with this method. */
export class MethodNotAllowed extends ApiError<'METHOD_NOT_ALLOWED'> {
  readonly allow: string;

  /** @param methods what the path takes; GET brings HEAD with it */
  constructor(methods: readonly string[]) {
    const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    super('METHOD_NOT_ALLOWED', { detail: `This address takes ${allow}.` });
    this.allow = allow;
  }
}
