import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { catalog, errorSlug, isErrorCode, type ErrorCode } from '../../foundation/errors/catalog.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { CheckoutPage } from '../../platform/payments/index.ts';
import type { Services } from '../../services.ts';
import type { Deprecated } from '../contract/deprecation.ts';
import { MethodNotAllowed } from '../transport/method-not-allowed.ts';
import { createDiscoveryPages, DISCOVERY_METHODS } from './discovery-pages.ts';
import { checkoutStatePage, deprecationsPage, errorIndexPage, errorPage, homePage } from './html.ts';
import { createOAuthPages, type OAuthDependencies } from './oauth-pages.ts';
import { OAUTH_PATHS } from './oauth-paths.ts';
import { ACCOUNT_PATHS, createAccountPages, type AccountPages } from './account-pages.ts';
import { AGENT_CLAIM_PATHS, createAgentClaimPages, type AgentClaims } from './agent-claim-pages.ts';
import { createPaymentPages, PAYMENT_PATHS } from './payment-pages.ts';

/** Strict headers: no scripts, no external resources, no framing. */
const PAGE_HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The links that a program finds at the home page (RFC 8288, RFC 8631). */
const HOME_LINKS = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</auth.md>; rel="service-doc"; type="text/markdown"',
  '</llms.txt>; rel="describedby"; type="text/plain"',
].join(', ');

const PLAIN_PATHS = ['/', '/errors', '/errors/:slug', '/deprecations', '/checkout/:id', '/metrics'];

/** The routes of all pages that any installation serves. */
export const PAGE_ROUTES: readonly string[] = [
  ...PLAIN_PATHS,
  ...[OAUTH_PATHS, PAYMENT_PATHS, ACCOUNT_PATHS, AGENT_CLAIM_PATHS].flatMap((paths) => Object.keys(paths)),
];

interface Dependencies {
  readonly discovery: Services['discovery'];
  readonly deprecations: readonly Deprecated[];
  readonly checkouts: Pick<Services['checkouts'], 'stateOf'>;
  /** Responds to `/metrics`. */
  readonly metrics: RequestHandler;
  /** The payment page of the embedded test processor; undefined with another processor. */
  readonly checkoutPage?: CheckoutPage | undefined;
  /** The authorization server, if there is one. */
  readonly oauth?: OAuthDependencies | undefined;
  /** Where people confirm agents; undefined if no one does. */
  readonly agentClaims?: AgentClaims | undefined;
  /** Where people get a new password; undefined if no one does. */
  readonly account?: AccountPages | undefined;
  /** Responds to requests that match no page or fail. */
  readonly onError: ErrorRequestHandler;
}

/** Everything that is not an operation of the contract: pages for people, documents for programs, and metrics. */
export function createPages(deps: Dependencies): Express {
  const { discovery, deprecations, checkouts, metrics, checkoutPage, onError } = deps;
  const { account, agentClaims, oauth } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');

  app.get('/', (_request, response) => {
    response
      .set({ ...PAGE_HEADERS, Link: HOME_LINKS })
      .type('html')
      .send(homePage());
  });
  app.get('/errors', (_request, response) => {
    response
      .set(PAGE_HEADERS)
      .type('html')
      .send(errorIndexPage(Object.keys(catalog) as ErrorCode[]));
  });
  app.get('/errors/:slug', (request, response, next) => {
    const code = request.params.slug.toUpperCase().replaceAll('-', '_');
    if (!isErrorCode(code) || errorSlug(code) !== request.params.slug) return next();
    response.set(PAGE_HEADERS).type('html').send(errorPage(code));
  });
  app.get('/deprecations', (_request, response) => {
    response.set(PAGE_HEADERS).type('html').send(deprecationsPage(deprecations));
  });
  app.get('/checkout/:id', async (request, response, next) => {
    const state = await checkouts.stateOf(request.params.id);
    if (!state) return next();
    response
      .set({ ...PAGE_HEADERS, 'Cache-Control': 'no-store' })
      .type('html')
      .send(checkoutStatePage(state));
  });
  app.get('/metrics', metrics);
  app.use(createDiscoveryPages(discovery));
  if (oauth) app.use(createOAuthPages(oauth));
  if (checkoutPage) app.use(createPaymentPages(checkoutPage));
  if (account) app.use(createAccountPages(account));
  if (agentClaims) app.use(createAgentClaimPages(agentClaims));
  const served: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(discovery.paths.map((path) => [path, DISCOVERY_METHODS])),
    ...(oauth && OAUTH_PATHS),
    ...(checkoutPage && PAYMENT_PATHS),
    ...(account && ACCOUNT_PATHS),
    ...(agentClaims && AGENT_CLAIM_PATHS),
  };
  for (const [path, methods] of Object.entries(served)) {
    app.all(path, (_request, _response, next) => next(new MethodNotAllowed(methods)));
  }
  app.all(PLAIN_PATHS, (request, _response, next) => {
    next(request.method === 'GET' || request.method === 'HEAD' ? undefined : new MethodNotAllowed(['GET']));
  });
  app.use((_request, _response, next) => next(new ApiError('NOT_FOUND')));
  app.use(onError);
  return app;
}
