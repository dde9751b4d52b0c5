import Stripe from 'stripe';
import { PaymentsError, PaymentsUnavailableError, type PaymentsFault } from '../errors.ts';

/** Refunds that Stripe refuses because there is nothing left, or no money to pay them from. */
const NOTHING_LEFT = new Set(['charge_already_refunded', 'charge_disputed', 'balance_insufficient']);

/** Amounts that Stripe takes of nobody: what is the least and the most differs by currency. */
const NOT_TAKEN = new Set(['amount_too_small', 'amount_too_large']);

/** Where it stands what an amount is of: there are currencies that Stripe does not take at all, without a code. */
const CURRENCY = /(^|\[)currency\]?$/;

const NOT_FOUND = 404;

/** For all the requests that something takes, and the second attempts: whoever waits for it has an answer within 10 s. */
const DONE_WITHIN_MS = 9_000;

/**
 * Asks Stripe. What takes too long is given up: that it has not happened is then no more certain than after a lost answer.
 * @throws PaymentsError, PaymentsUnavailableError for what Stripe throws; everything else as it is
 */
export async function ask<T>(work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new PaymentsUnavailableError('Stripe does not answer in time')),
    DONE_WITHIN_MS,
  );
  try {
    return await Promise.race([work(), late.promise]);
  } catch (error) {
    throw error instanceof Stripe.errors.StripeError ? ownError(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether Stripe says that there is no such thing. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Stripe.errors.StripeError)) return false;
  return error.code === 'resource_missing' || error.statusCode === NOT_FOUND;
}

function ownError(error: Stripe.errors.StripeError): Error {
  // The error itself is no cause: it carries headers and more of the exchange than a log should have.
  const { StripeConnectionError, StripeRateLimitError, StripeAPIError } = Stripe.errors;
  // An error of the API is what no other class is for: 5xx, and 409 while a request with the same key is still running.
  const unavailable =
    error instanceof StripeConnectionError ||
    error instanceof StripeRateLimitError ||
    error instanceof StripeAPIError;
  return unavailable
    ? new PaymentsUnavailableError(`Stripe does not serve us: ${describe(error)}`)
    : new PaymentsError(faultOf(error), `Stripe refuses: ${describe(error)}`);
}

function faultOf(error: Stripe.errors.StripeError): PaymentsFault {
  if (error instanceof Stripe.errors.StripeCardError) return 'declined';
  if (isMissing(error)) return 'not_found';
  if (NOT_TAKEN.has(error.code ?? '') || CURRENCY.test(error.param ?? '')) return 'amount';
  return NOTHING_LEFT.has(error.code ?? '') ? 'declined' : 'invalid';
}

/** In words for the log. Messages about keys name the key, in part: they are left out. */
function describe(error: Stripe.errors.StripeError): string {
  const { type, code, decline_code, param, statusCode, requestId, message } = error;
  const facts = { status: statusCode, code, decline_code, param, request: requestId };
  const told = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  const words = /\b(sk|rk|pk|whsec)_/.test(message) ? '' : `: ${message}`;
  return [type, ...told.map(([name, value]) => `${name} ${value}`)].join(', ') + words;
}
