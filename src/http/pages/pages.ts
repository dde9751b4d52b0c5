import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import { catalog, errorSlug, isErrorCode, type ErrorCode } from '../../foundation/errors/catalog.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { CheckoutPage } from '../../platform/payments/index.ts';
import type { Services } from '../../services.ts';
import type { Deprecated } from '../contract/deprecation.ts';
import { MethodNotAllowed } from '../transport/method-not-allowed.ts';
import { createDashboardPages, DASHBOARD_PATHS } from './dashboard-pages.ts';
import { createDiscoveryPages, DISCOVERY_METHODS } from './discovery-pages.ts';
import { errorIndexPage, errorPage, notFoundPage } from './error-html.ts';
import { createGuidePages, GUIDE_PATHS } from './guides/guide-pages.ts';
import { ICON, PAGE_HEADERS, rootPath } from './html.ts';
import { createOAuthPages, type OAuthDependencies } from './oauth-pages.ts';
import { OAUTH_PATHS } from './oauth-paths.ts';
import { ACCOUNT_PATHS, createAccountPages, type AccountPages } from './account-pages.ts';
import { AGENT_CLAIM_PATHS, createAgentClaimPages, type AgentClaims } from './agent-claim-pages.ts';
import { createPaymentPages, PAYMENT_PATHS } from './payment-pages.ts';
import type { Document } from './reference/document.ts';
import { createReferencePages, REFERENCE_PATHS } from './reference/reference-pages.ts';
import { checkoutStatePage, deprecationsPage, homePage } from './service-html.ts';

/** The links that a program finds at the home page (RFC 8288, RFC 8631). */
const HOME_LINKS = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</auth.md>; rel="service-doc"; type="text/markdown"',
  '</llms.txt>; rel="describedby"; type="text/plain"',
].join(', ');

const PLAIN_PATHS = [
  '/',
  '/favicon.ico',
  '/errors',
  '/errors/:slug',
  '/deprecations',
  '/checkout/:id',
  '/metrics',
  ...REFERENCE_PATHS,
  ...GUIDE_PATHS,
];

/** The routes of all pages that any installation serves. */
export const PAGE_ROUTES: readonly string[] = [
  ...PLAIN_PATHS,
  ...DASHBOARD_PATHS,
  ...[OAUTH_PATHS, PAYMENT_PATHS, ACCOUNT_PATHS, AGENT_CLAIM_PATHS].flatMap((paths) => Object.keys(paths)),
];

interface Dependencies {
  readonly discovery: Services['discovery'];
  /** The contract that the reference shows. */
  readonly document: Document;
  readonly baseUrl: () => string;
  readonly deprecations: readonly Deprecated[];
  readonly checkouts: Pick<Services['checkouts'], 'stateOf'>;
  /** The address of the pages, whose path the dashboard needs. */
  readonly webUrl: () => string;
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

  const root = () => rootPath(deps.webUrl());

  app.get('/', (_request, response) => {
    response
      .set({ ...PAGE_HEADERS, Link: HOME_LINKS })
      .type('html')
      .send(homePage(root(), deps.baseUrl()));
  });
  app.get('/favicon.ico', (_request, response) => {
    response.set({ ...PAGE_HEADERS, 'Cache-Control': 'public, max-age=86400' });
    response.type('svg').send(ICON);
  });
  app.get('/errors', (_request, response) => {
    response
      .set(PAGE_HEADERS)
      .type('html')
      .send(errorIndexPage(Object.keys(catalog) as ErrorCode[], root()));
  });
  app.get('/errors/:slug', (request, response, next) => {
    const code = request.params.slug.toUpperCase().replaceAll('-', '_');
    if (!isErrorCode(code) || errorSlug(code) !== request.params.slug) return next();
    response.set(PAGE_HEADERS).type('html').send(errorPage(code, root()));
  });
  app.get('/deprecations', (_request, response) => {
    response.set(PAGE_HEADERS).type('html').send(deprecationsPage(deprecations, root()));
  });
  app.get('/checkout/:id', async (request, response, next) => {
    const state = await checkouts.stateOf(request.params.id);
    if (!state) return next();
    response
      .set({ ...PAGE_HEADERS, 'Cache-Control': 'no-store' })
      .type('html')
      .send(checkoutStatePage(state, root()));
  });
  app.get('/metrics', metrics);
  app.use(createReferencePages(deps));
  app.use(createGuidePages(deps));
  app.use(createDashboardPages(deps.webUrl));
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
  app.all([...PLAIN_PATHS, ...DASHBOARD_PATHS], (request, _response, next) => {
    next(request.method === 'GET' || request.method === 'HEAD' ? undefined : new MethodNotAllowed(['GET']));
  });
  app.use((request, response, next) => {
    response.vary('Sec-Fetch-Mode');
    if (!isForPeople(request)) return next(new ApiError('NOT_FOUND'));
    response
      .status(404)
      .set({ ...PAGE_HEADERS, 'Cache-Control': 'no-store' })
      .type('html')
      .send(notFoundPage(root()));
  });
  app.use(onError);
  return app;
}

/** Whether a browser shows the response as a page. `Accept` says less: many clients accept anything. */
function isForPeople(request: Request): boolean {
  return request.get('sec-fetch-mode') === 'navigate' && ['GET', 'HEAD'].includes(request.method);
}
