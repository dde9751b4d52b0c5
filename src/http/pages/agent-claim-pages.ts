import type { IncomingMessage } from 'node:http';
import { Router, type ErrorRequestHandler, type Request, type Response } from 'express';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import type { Services } from '../../services.ts';
import { claimPage, claimStatePage, codePage } from './agent-claim-html.ts';
import { fieldOf, acceptForm } from './forms.ts';
import { refusalPage, SECRET_PAGE_HEADERS } from './payment-parts.ts';

const VIEW_TOKEN = /^[\w-]{43}$/;

/** The paths of these pages, with their methods. */
export const AGENT_CLAIM_PATHS: Readonly<Record<string, readonly string[]>> = {
  '/agent/claim/:view': ['GET', 'POST'],
  '/agent/claim/:view/reject': ['POST'],
};

export interface AgentClaims {
  readonly page: Services['agents']['claimPage'];
  readonly webUrl: () => string;
  readonly clientOf: (request: IncomingMessage) => Client;
}

/**
 * The pages behind an emailed link. Opening the link changes nothing, because programs follow links too: only the forms
 * do.
 */
export function createAgentClaimPages({ page, webUrl, clientOf }: AgentClaims): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const form = acceptForm(webUrl, (response) => {
    const line = 'This form was sent from another site. Nothing has changed.';
    send(response, 403, refusalPage('Form not accepted', line));
  });

  router.param('view', (_request, response, next, view: string) => {
    if (VIEW_TOKEN.test(view)) next();
    else notFound(response);
  });

  async function show(response: Response, viewToken: string, status: number, denied = false): Promise<void> {
    const view = await page.view(viewToken);
    if (!view) return notFound(response);
    if (view.state === 'open') return send(response, status, claimPage(addressOf(viewToken), view, denied));
    send(response, view.state === 'expired' ? 410 : 200, claimStatePage(view.state));
  }

  router.get('/agent/claim/:view', (request, response) => show(response, request.params.view, 200));

  router.post('/agent/claim/:view', form, async (request: Request<{ view: string }>, response: Response) => {
    const { view } = request.params;
    const confirmed = await page.confirm(
      view,
      { password: fieldOf(request, 'password'), chosen: fieldOf(request, 'new_password') },
      clientOf(request),
    );
    if (!confirmed) return show(response, view, 200);
    if ('denied' in confirmed) return show(response, view, 422, true);
    send(response, 200, codePage(confirmed.otp, confirmed.expiresAt));
  });

  router.post(
    '/agent/claim/:view/reject',
    form,
    async (request: Request<{ view: string }>, response: Response) => {
      const { view } = request.params;
      if (!(await page.reject(view, clientOf(request)))) return notFound(response);
      response.set(SECRET_PAGE_HEADERS).redirect(303, addressOf(view));
    },
  );

  router.use(onError);
  return router;
}

function addressOf(viewToken: string): string {
  return `/agent/claim/${viewToken}`;
}

function send(response: Response, status: number, html: string): void {
  response.status(status).set(SECRET_PAGE_HEADERS).type('html').send(html);
}

function notFound(response: Response): void {
  const line = 'Check the address, and open the link in the latest email that you received.';
  send(response, 404, refusalPage('Page not found', line));
}

const onError: ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof ApiError && error.code === 'TOO_MANY_REQUESTS') {
    response.set('Retry-After', String(error.retryAfter));
    const line =
      'There were too many failed attempts, or there are too many requests right now. Please try again in a minute.';
    return send(response, error.status, refusalPage('Please wait a moment', line));
  }
  if (error instanceof ApiError && error.code === 'ACCOUNT_SUSPENDED') {
    const line = 'The account is suspended. Contact the operator of this service.';
    return send(response, error.status, refusalPage('Suspended account', line));
  }
  next(error);
};
