import { Router, type ErrorRequestHandler, type Request, type Response } from 'express';
import { PaymentsUnavailableError } from '../../platform/payments/index.ts';
import type {
  CheckoutPage,
  CheckoutView,
  PayResult,
  TestTool,
} from '../../platform/payments/test-processor/checkout-page.ts';
import { fieldOf, acceptForm } from './forms.ts';
import { bankPage, payPage, receiptPage, refusalPage } from './payment-html.ts';
import { SECRET_PAGE_HEADERS as HEADERS } from './payment-parts.ts';

const LONGEST_KEPT = 200;
const SESSION = /^cs_test_[\w-]{32}$/;

const TOOLS: readonly string[] = [
  'dispute',
  'dispute_won',
  'dispute_lost',
  'renewals_pay',
  'renewals_fail',
] satisfies TestTool[];

/** The paths of these pages, with their methods. */
export const PAYMENT_PATHS: Readonly<Record<string, readonly string[]>> = {
  '/pay/:session': ['GET', 'POST'],
  '/pay/:session/bank': ['GET', 'POST'],
  '/pay/:session/receipt': ['GET'],
  '/pay/:session/tools': ['POST'],
};

/** The pages of the test processor. */
export function createPaymentPages(page: CheckoutPage): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const form = acceptForm(page.webUrl, (response) => {
    const line = 'This form was sent from another site. You were not charged.';
    send(response, 403, refusalPage('Form not accepted', line));
  });

  router.param('session', (_request, response, next, session: string) => {
    if (SESSION.test(session)) next();
    else notFound(response);
  });

  router.get('/pay/:session', async (request, response) => {
    const view = await page.view(request.params.session);
    if (!view) return notFound(response);
    if (view.state !== 'open') return redirect(response, view);
    send(response, 200, payPage(view));
  });

  router.post('/pay/:session', form, async (request: Request<{ session: string }>, response: Response) => {
    const typed = {
      name: fieldOf(request, 'name'),
      number: fieldOf(request, 'number'),
      expiry: fieldOf(request, 'expiry'),
      cvc: fieldOf(request, 'cvc'),
    };
    // The number and the security code are not kept.
    respond(response, await page.pay(request.params.session, typed), {
      name: typed.name.slice(0, LONGEST_KEPT),
      expiry: typed.expiry.slice(0, LONGEST_KEPT),
    });
  });

  router.get('/pay/:session/bank', async (request, response) => {
    const view = await page.view(request.params.session);
    if (!view) return notFound(response);
    if (view.state !== 'authenticating') return redirect(response, view);
    send(response, 200, bankPage(view));
  });

  router.post(
    '/pay/:session/bank',
    form,
    async (request: Request<{ session: string }>, response: Response) => {
      const approved = fieldOf(request, 'decision') === 'approve';
      respond(response, await page.authenticate(request.params.session, approved));
    },
  );

  router.get('/pay/:session/receipt', async (request, response) => {
    const view = await page.receipt(request.params.session);
    if (!view) return notFound(response);
    if (view.state === 'open' || view.state === 'authenticating') return redirect(response, view);
    send(response, view.state === 'expired' ? 410 : 200, receiptPage(view));
  });

  router.post(
    '/pay/:session/tools',
    form,
    async (request: Request<{ session: string }>, response: Response) => {
      const { session } = request.params;
      const [tool = '', paymentRef = ''] = fieldOf(request, 'tool').split(':');
      const used = TOOLS.includes(tool)
        ? await page.useTool(session, tool as TestTool, paymentRef)
        : (await page.view(session)) && false;
      if (used === undefined) return notFound(response);
      response.set(HEADERS).redirect(303, `/pay/${session}/receipt`);
    },
  );

  router.use(onError);
  return router;
}

/** Shows the form again with its faults, or redirects to the page of the new state. */
function respond(
  response: Response,
  result: PayResult | undefined,
  typed?: { readonly name: string; readonly expiry: string },
): void {
  if (!result) return notFound(response);
  const { checkout, faults, declined } = result;
  if (!faults && declined === undefined) return redirect(response, checkout);
  const state = { ...(typed && { typed }), ...(faults && { faults }), ...(declined && { declined }) };
  send(response, 422, payPage(checkout, state));
}

/** Each state has its own page, so that reloading sends no form twice. */
function redirect(response: Response, { sessionRef, state }: CheckoutView): void {
  const page = { open: '', authenticating: '/bank' }[state as string] ?? '/receipt';
  response.set(HEADERS).redirect(303, `/pay/${sessionRef}${page}`);
}

function send(response: Response, status: number, html: string): void {
  response.status(status).set(HEADERS).type('html').send(html);
}

function notFound(response: Response): void {
  send(response, 404, refusalPage('Page not found', 'Check the address, or start the purchase again.'));
}

const onError: ErrorRequestHandler = (error, _request, _response, next) => {
  next(error instanceof PaymentsUnavailableError ? error.cause : error);
};
