import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import type { Services } from '../../services.ts';
import { bearerToken } from '../transport/bearer.ts';
import { openToOrigins } from '../transport/cors.ts';
import { fieldOf, isForeign, readForm } from './forms.ts';
import { assertShortQuery, readOAuthBody } from './oauth-body.ts';
import { oauthFault } from './oauth-error.ts';
import { oauthPage, oauthPageHeaders, type OAuthPage } from './oauth-html.ts';
import { INTERACTION_PATH, OAUTH_PATHS } from './oauth-paths.ts';

type InteractionRequest = Parameters<Services['authorizationServer']['interaction']>[0];
type Surface = Parameters<Services['authorizationServer']['handle']>[2];

/** Paths that this module handles itself. */
const OWN: readonly string[] = ['/oauth/userinfo', INTERACTION_PATH];
/** Forms for people. */
const FORMS: readonly string[] = ['/oauth/device', '/oauth/logout/confirm', INTERACTION_PATH];

export interface OAuthDependencies extends Pick<Services, 'authorizationServer' | 'addresses'> {
  readonly clientOf: (request: IncomingMessage) => Client;
  /** Logs a failure. @returns the error to respond with */
  readonly recordFailure: (error: unknown, requestId: string) => ApiError;
  /** Logs an error that refuses a sign-in. */
  readonly logRefusedLogin: (error: unknown, requestId: string) => void;
}

/** The endpoints of the authorization server. Programs get OAuth responses, people get pages. */
export function createOAuthPages(deps: OAuthDependencies): Router {
  const { authorizationServer, addresses, clientOf, recordFailure, logRefusedLogin } = deps;
  const router = Router({ caseSensitive: true, strict: true });

  function surfaceOf(request: Request, response: Response): Surface {
    return {
      address: clientOf(request).address,
      render: (page) => ({ html: oauthPage(page), headers: oauthPageHeaders(page) }),
      fault: (error) => oauthFault(recordFailure(error, requestIdOf(response)), request.path),
    };
  }

  const refuseCrossSite: RequestHandler = (request, response, next) => {
    if (request.method !== 'POST' || !isForeign(request, addresses.issuer())) return next();
    const description = 'This form was sent from another site.';
    send(response, 403, { kind: 'error', error: 'invalid_request', description });
  };
  for (const path of FORMS) router.all(path, refuseCrossSite);

  // A new key is published for ten minutes before it signs.
  router.get('/.well-known/jwks.json', (_request, response, next) => {
    response.set('Cache-Control', 'public, max-age=300');
    next();
  });

  // Programs in a browser register themselves too; these responses do not depend on who is signed in.
  router.all(['/oauth/register', '/oauth/userinfo'], (request, response, next) => {
    response.set(openToOrigins());
    if (request.method !== 'OPTIONS') return next();
    response.set('Access-Control-Allow-Methods', 'GET, POST');
    response.set('Access-Control-Allow-Headers', 'Authorization, Content-Type');
    response.set('Access-Control-Max-Age', '3600').status(204).end();
  });

  const userinfo: RequestHandler = async (request, response) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    const token = bearerToken(request.headers.authorization);
    try {
      if (token === undefined) throw new ApiError('UNAUTHORIZED');
      response.json(await authorizationServer.userinfo(token));
    } catch (error) {
      const { status, headers, description, ...fault } = surfaceOf(request, response).fault(error);
      const code = status === 401 ? 'invalid_token' : status === 403 ? 'insufficient_scope' : fault.error;
      const scope = status === 403 ? ', scope="openid"' : '';
      const errorParameters = token === undefined ? '' : `, error="${code}"${scope}`;
      if (status < 429) response.set('WWW-Authenticate', `Bearer realm="latchkey"${errorParameters}`);
      response.status(status).set(headers).json({ error: code, error_description: description });
    }
  };
  router.get('/oauth/userinfo', userinfo);
  router.post('/oauth/userinfo', userinfo);

  const expired: OAuthPage = {
    kind: 'error',
    error: 'expired',
    description: 'This page has expired, or was opened in another browser.',
  };

  router.get(INTERACTION_PATH, async (request: Request<{ uid: string }>, response) => {
    const page = await authorizationServer.interaction(at(request, response));
    send(response, page ? 200 : 400, page ?? expired);
  });

  router.post(INTERACTION_PATH, readForm, async (request: Request<{ uid: string }>, response: Response) => {
    const here = at(request, response);
    const action = fieldOf(request, 'action');
    if (action !== 'sign-in') {
      return continueTo(response, await authorizationServer.decide(here, action === 'allow'));
    }
    const email = fieldOf(request, 'email');
    try {
      continueTo(
        response,
        await authorizationServer.signIn(here, { email, password: fieldOf(request, 'password') }),
      );
    } catch (error) {
      logRefusedLogin(error, requestIdOf(response));
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      const page = await authorizationServer.interaction(here);
      if (error.retryAfter !== undefined) response.set('Retry-After', String(error.retryAfter));
      const alert = alertOf(error);
      send(
        response,
        page ? error.status : 400,
        page?.kind === 'sign-in' ? { ...page, email, alert } : expired,
      );
    }
  });

  function at(request: Request<{ uid: string }>, response: Response): InteractionRequest {
    return { request, response, uid: request.params.uid, client: clientOf(request) };
  }

  function continueTo(response: Response, returnTo: string | undefined): void {
    if (returnTo === undefined) return send(response, 400, expired);
    response.set('Cache-Control', 'no-store').redirect(303, returnTo);
  }

  for (const [path, methods] of Object.entries(OAUTH_PATHS)) {
    if (OWN.includes(path)) continue;
    router.all(path, async (request, response, next) => {
      const isTaken = methods.includes(request.method === 'HEAD' ? 'GET' : request.method);
      if (!isTaken) return next('router');
      assertShortQuery(request);
      await readOAuthBody(request, path);
      await authorizationServer.handle(request, response, surfaceOf(request, response));
    });
  }

  return router;
}

function requestIdOf(response: Response): string {
  return String(response.getHeader('X-Request-Id'));
}

function send(response: Response, status: number, page: OAuthPage): void {
  response.status(status).set(oauthPageHeaders(page)).type('html').send(oauthPage(page));
}

/** Why a sign-in was refused, for people. */
function alertOf({ code, status }: ApiError): string {
  if (code === 'ACCOUNT_SUSPENDED') return 'This account is suspended. Contact the operator of this service.';
  if (status === 429) return 'Please wait a minute and try again.';
  return 'That is not the password of this account.';
}
