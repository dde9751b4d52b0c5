import type { Handler } from '../handler.ts';

export const listPlans: Handler<'listPlans'> = async (_request, { plans }) => {
  const every = await plans.list();
  return {
    status: 200,
    body: {
      status: 'success',
      data: every.map((plan) => ({
        id: plan.planId,
        name: plan.name,
        price: plan.price,
        currency: plan.currency,
        period: plan.period,
        max_apps: plan.maxApps,
        max_users_per_app: plan.maxUsersPerApp,
        features: [...plan.features],
        kind: plan.kind,
        max_licenses: plan.maxLicenses,
        licenses: plan.licenses,
        balance: plan.balance,
      })),
    },
  };
};
