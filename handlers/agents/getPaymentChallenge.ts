import type { Handler } from '../handler.ts';

export const getPaymentChallenge: Handler<'getPaymentChallenge'> = async (_request, { machinePayments }) =>
  machinePayments.requirePayment();
