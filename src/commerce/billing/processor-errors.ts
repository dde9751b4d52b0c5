import { ApiError } from '../../foundation/errors/api-error.ts';
import {
  PaymentsError,
  PaymentsUnavailableError,
  type PaymentProcessor,
} from '../../platform/payments/index.ts';
import type { PlanRow } from '../../accounts/plans/plans.ts';

const RETRY_AFTER_S = 5;

/**
 * Calls the payment processor.
 * @throws ApiError SERVICE_UNAVAILABLE when it cannot be reached, PAYMENT_DECLINED when it declines a payment
 *   or a refund, PLAN_NOT_APPLICABLE for a price that it never accepts; any other refusal is a bug of this
 *   service, and is rethrown
 */
export async function callProcessor<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof PaymentsUnavailableError) {
      throw new ApiError('SERVICE_UNAVAILABLE', {
        detail: 'The payment processor is unavailable right now.',
        retryAfter: RETRY_AFTER_S,
        cause: error,
      });
    }
    if (error instanceof PaymentsError && error.fault === 'declined') {
      throw new ApiError('PAYMENT_DECLINED', { cause: error });
    }
    if (error instanceof PaymentsError && error.fault === 'amount') throw notPayable(error);
    throw error;
  }
}

/**
 * Refuses a plan before its sale is recorded.
 * @throws ApiError PLAN_NOT_APPLICABLE for a price that is never accepted
 */
export function assertPayable(payments: Pick<PaymentProcessor, 'amountFault'>, plan: PlanRow): void {
  if (payments.amountFault(plan.price_minor, plan.currency) !== undefined) throw notPayable();
}

/** Older plans, or plans from the time of another processor, may have such prices. */
function notPayable(cause?: unknown): ApiError<'PLAN_NOT_APPLICABLE'> {
  return new ApiError('PLAN_NOT_APPLICABLE', {
    detail:
      "The payment processor does not accept the plan's price. Ask the operator of this service to change it.",
    cause,
  });
}
