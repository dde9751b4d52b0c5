import { ApiError } from '../errors/api-error.ts';
import { PaymentsError, PaymentsUnavailableError, type Payments } from '../platform/payments/index.ts';
import type { PlanRow } from '../plans/plans.ts';

const RETRY_AFTER_S = 5;

/**
 * Asks the payment processor for something.
 * @throws ApiError SERVICE_UNAVAILABLE when it cannot be reached, PAYMENT_DECLINED when it will not take or give the money,
 *   PLAN_NOT_APPLICABLE for a price that it never takes; any other refusal is a fault of ours and goes on
 */
export async function talkTo<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof PaymentsUnavailableError) {
      throw new ApiError('SERVICE_UNAVAILABLE', {
        detail: 'The payment processor cannot be reached just now.',
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

/** Refuses a plan before anything of its sale is kept. @throws ApiError PLAN_NOT_APPLICABLE for a price that is never taken */
export function assertPayable(payments: Pick<Payments, 'amountFault'>, plan: PlanRow): void {
  if (payments.amountFault(plan.price_minor, plan.currency) !== undefined) throw notPayable();
}

/** Plans that stand from before, or from another processor, may have such prices. */
function notPayable(cause?: unknown): ApiError<'PLAN_NOT_APPLICABLE'> {
  return new ApiError('PLAN_NOT_APPLICABLE', {
    detail:
      'The payment processor does not take amounts such as its price: whoever runs this service must change that.',
    cause,
  });
}
