import type { Actor } from '../../src/foundation/audit/audit.ts';
import type { Handler } from '../handler.ts';

export const getDeveloper: Handler<'getDeveloper'> = async ({ actor, scopes }, services) => {
  const { developers, applications } = services;
  const account = await developers.account(actor.developerId);
  const users = await applications.usersOfLargestApplication(actor.developerId);
  const { plan, apps, maxUsersPerApp, licenses, graceEndsAt } = account;
  return {
    status: 200,
    body: {
      status: 'success',
      developer_id: account.developerId,
      email: account.email,
      name: account.name,
      created_at: account.createdAt.toISOString(),
      plan,
      quotas: { apps, users_per_app: { limit: maxUsersPerApp, used: users }, licenses },
      grace_ends_at: graceEndsAt?.toISOString() ?? null,
      actor: { kind: delegate(actor.kind) ?? 'developer', id: actor.id },
      scopes: [...scopes],
    },
  };
};

/** The caller that acts for the developer, if it is not the developer. */
const delegate = (kind: Actor['kind']) =>
  kind === 'api_token' || kind === 'oauth_client' || kind === 'agent' ? kind : undefined;
