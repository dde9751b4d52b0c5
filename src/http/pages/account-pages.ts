import type { IncomingMessage } from 'node:http';
import { Router, type ErrorRequestHandler, type Request, type Response } from 'express';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import { isMailAddress } from '../../platform/mail/mailbox.ts';
import type { Services } from '../../services.ts';
import { FORGOTTEN_PATH, forgottenPage, expiredLinkPage, PASSWORD_FAULT, resetPage } from './account-html.ts';
import { fieldOf, acceptForm } from './forms.ts';
import { refusalPage, messagePage, SECRET_PAGE_HEADERS } from './payment-parts.ts';

const RESET_PATH = `${FORGOTTEN_PATH}/:token`;

/** The paths of these pages, with their methods. */
export const ACCOUNT_PATHS: Readonly<Record<string, readonly string[]>> = {
  [FORGOTTEN_PATH]: ['GET', 'POST'],
  [RESET_PATH]: ['GET', 'POST'],
};

export interface AccountPages {
  readonly passwords: Services['developerPasswords'];
  readonly limits: Pick<Services['limits'], 'assertRequestAllowed'>;
  readonly webUrl: () => string;
  readonly clientOf: (request: IncomingMessage) => Client;
}

/** Where developers who have forgotten their password choose a new one. */
export function createAccountPages({ passwords, limits, webUrl, clientOf }: AccountPages): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const form = acceptForm(webUrl, (response) => {
    const line = 'This form was sent from another site. Nothing has changed.';
    send(response, 403, refusalPage('Form not accepted', line));
  });

  /** Shares its window with the same API requests. @throws ApiError TOO_MANY_REQUESTS */
  const count = (request: Request) => limits.assertRequestAllowed(['developers'], clientOf(request).address);

  router.get(FORGOTTEN_PATH, (_request, response) => send(response, 200, forgottenPage()));

  router.post(FORGOTTEN_PATH, form, async (request: Request, response: Response) => {
    const email = fieldOf(request, 'email').trim();
    if (!isMailAddress(email)) {
      return send(response, 422, forgottenPage(email, 'Enter an email address.'));
    }
    await count(request);
    await passwords.requestReset(email, clientOf(request));
    const line = 'If it does not arrive soon, check your spam folder. The link works for one hour.';
    send(response, 200, messagePage('good', 'Check your email', line));
  });

  router.get(RESET_PATH, async (request: Request<{ token: string }>, response) => {
    const { token } = request.params;
    const reset = await passwords.resetOf(token);
    if (!reset) return showExpired(response);
    send(response, 200, resetPage(token, reset));
  });

  router.post(RESET_PATH, form, async (request: Request<{ token: string }>, response: Response) => {
    const { token } = request.params;
    const reset = await passwords.resetOf(token);
    if (!reset) return showExpired(response);
    const password = fieldOf(request, 'new_password');
    if (!passwords.canBeChosen(password)) {
      return send(response, 422, resetPage(token, reset, PASSWORD_FAULT));
    }
    await count(request);
    await passwords.reset(token, password, fieldOf(request, 'end_access') === 'yes', clientOf(request));
    const line = 'Return to the sign-in page, and sign in with the new password.';
    send(response, 200, messagePage('good', 'Your password is set', line));
  });

  router.use(onError);
  return router;
}

function send(response: Response, status: number, html: string): void {
  response.status(status).set(SECRET_PAGE_HEADERS).type('html').send(html);
}

function showExpired(response: Response): void {
  send(response, 404, expiredLinkPage());
}

const onError: ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof ApiError && error.code === 'INVALID_RESET_TOKEN') return showExpired(response);
  if (error instanceof ApiError && error.code === 'TOO_MANY_REQUESTS') {
    response.set('Retry-After', String(error.retryAfter));
    const line = 'There are too many requests right now. Please try again later.';
    return send(response, error.status, refusalPage('Please wait a moment', line));
  }
  next(error);
};
