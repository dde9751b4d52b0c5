import { ApiError } from '../errors/api-error.ts';
import { PaymentsError, PaymentsUnavailableError } from '../platform/payments/index.ts';

const RETRY_AFTER_S = 5;

/**
 * Asks the payment processor for something.
 * @throws ApiError SERVICE_UNAVAILABLE when it cannot be reached, PAYMENT_DECLINED when it will not take or give the money; any
 *   other refusal is a fault of ours and goes on
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
    throw error;
  }
}
