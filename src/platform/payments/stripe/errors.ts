import Stripe from 'stripe';
import { PaymentsError, PaymentsUnavailableError, type PaymentsFault } from '../errors.ts';

/** Codes of refunds that Stripe refuses because nothing is left to refund or our balance is too low. */
const NOTHING_LEFT = new Set(['charge_already_refunded', 'charge_disputed', 'balance_insufficient']);

/** Codes of amounts that Stripe never accepts: the minimum and the maximum depend on the currency. */
const NOT_TAKEN = new Set(['amount_too_small', 'amount_too_large']);

/** The parameter of an unsupported currency, for which Stripe has no code. */
const CURRENCY = /(^|\[)currency\]?$/;

const NOT_FOUND = 404;

/** For all the requests of one operation and their retries, so that the caller has a response within 10 s. */
const OPERATION_TIMEOUT_MS = 9_000;

/**
 * Runs work that calls Stripe, for a limited time. After a timeout, as after a lost response, Stripe may have done it.
 * @throws PaymentsError, PaymentsUnavailableError for Stripe's errors; all others unchanged
 */
export async function callStripe<T>(work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new PaymentsUnavailableError('Stripe did not respond in time')),
    OPERATION_TIMEOUT_MS,
  );
  try {
    return await Promise.race([work(), late.promise]);
  } catch (error) {
    throw error instanceof Stripe.errors.StripeError ? ownError(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether Stripe reports that the object does not exist. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Stripe.errors.StripeError)) return false;
  return error.code === 'resource_missing' || error.statusCode === NOT_FOUND;
}

function ownError(error: Stripe.errors.StripeError): Error {
  // The error itself is not the `cause`: it contains headers and other data that must not be logged.
  const { StripeConnectionError, StripeRateLimitError, StripeAPIError } = Stripe.errors;
  // StripeAPIError is for all the rest: 5xx, and 409 while a request with the same key is still running.
  const unavailable =
    error instanceof StripeConnectionError ||
    error instanceof StripeRateLimitError ||
    error instanceof StripeAPIError;
  return unavailable
    ? new PaymentsUnavailableError(`Stripe is unavailable: ${describe(error)}`)
    : new PaymentsError(faultOf(error), `Stripe refuses: ${describe(error)}`);
}

function faultOf(error: Stripe.errors.StripeError): PaymentsFault {
  if (error instanceof Stripe.errors.StripeCardError) return 'declined';
  if (isMissing(error)) return 'not_found';
  if (NOT_TAKEN.has(error.code ?? '') || CURRENCY.test(error.param ?? '')) return 'amount';
  return NOTHING_LEFT.has(error.code ?? '') ? 'declined' : 'invalid';
}

/** A description for the log, without messages about API keys: those contain a part of the key. */
function describe(error: Stripe.errors.StripeError): string {
  const { type, code, decline_code, param, statusCode, requestId, message } = error;
  const facts = { status: statusCode, code, decline_code, param, request: requestId };
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  const words = /\b(sk|rk|pk|whsec)_/.test(message) ? '' : `: ${message}`;
  return [type, ...known.map(([name, value]) => `${name} ${value}`)].join(', ') + words;
}
