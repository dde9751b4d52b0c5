import type { Handler } from '../handler.ts';

/** Who can have a developer's token. */
type Kind = 'developer' | 'api_token' | 'oauth_client' | 'agent';

export const getDeveloper: Handler<'getDeveloper'> = async ({ actor, scopes }, { developers }) => {
  const account = await developers.account(actor.developerId);
  const { plan, apps, usersPerApp, licenses, graceEndsAt } = account;
  return {
    status: 200,
    body: {
      status: 'success',
      developer_id: account.developerId,
      email: account.email,
      name: account.name,
      created_at: account.createdAt.toISOString(),
      plan,
      quotas: { apps, users_per_app: usersPerApp, licenses },
      grace_ends_at: graceEndsAt?.toISOString() ?? null,
      actor: { kind: actor.kind as Kind, id: actor.id },
      scopes: [...scopes],
    },
  };
};
