import type { Actor } from '../../src/audit/audit.ts';
import type { Handler } from '../handler.ts';

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
      actor: { kind: delegate(actor.kind) ?? 'developer', id: actor.id },
      scopes: [...scopes],
    },
  };
};

/** Who acts for a developer, and is not himself. */
const delegate = (kind: Actor['kind']) =>
  kind === 'api_token' || kind === 'oauth_client' || kind === 'agent' ? kind : undefined;
