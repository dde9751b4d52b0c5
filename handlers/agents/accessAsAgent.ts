import type { Handler } from '../handler.ts';

export const accessAsAgent: Handler<'accessAsAgent'> = async ({ payment, client }, { machinePayments }) => {
  const access = await machinePayments.buyAccess(payment, client);
  return {
    status: 200,
    headers: { 'Payment-Receipt': access.receipt },
    body: {
      status: 'success',
      access_token: access.token,
      token_type: 'Bearer',
      expires_in: access.expiresInSeconds,
      expires_at: access.expiresAt.toISOString(),
      scope: access.scopes.join(' '),
      payment: access.payment,
    },
  };
};
