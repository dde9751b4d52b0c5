import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import type { Client } from '../../platform/address.ts';
import { takeAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import { requestContext } from './request-context.ts';
import type { OAuthPage, ClientSummary } from './oauth-page.ts';
import type { ProviderDependencies } from './provider-dependencies.ts';
import { knownScopes } from './scope-state.ts';

/** Pages that wait for a decision of the user. A cookie ties each of them to a browser. */
export interface Interactions {
  /** The page to show; undefined if the interaction has ended or belongs to another browser. */
  interaction(at: InteractionRequest): Promise<OAuthPage | undefined>;
  /**
   * Signs a developer in.
   * @returns where to continue; undefined like `interaction`
   * @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS
   */
  signIn(
    at: InteractionRequest,
    credentials: { readonly email: string; readonly password: string },
  ): Promise<string | undefined>;
  /** Allows or denies the client's request. @returns where to continue; undefined like `interaction` */
  decide(at: InteractionRequest, isAllowed: boolean): Promise<string | undefined>;
}

/** The request by which the user decides. */
export interface InteractionRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The id in the URL of the page. */
  readonly uid: string;
  readonly client: Client;
}

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

export function createInteractions(
  {
    inOneTransaction,
    registeredClients,
    developers,
    limits,
    audit,
    newId,
    trustedClients,
  }: ProviderDependencies,
  current: () => Promise<Provider>,
): Interactions {
  async function withInteraction<Result>(
    at: InteractionRequest,
    work: (interaction: Interaction, provider: Provider) => Promise<Result>,
  ): Promise<Result | undefined> {
    const provider = await current();
    return requestContext.run({ address: at.client.address }, async () => {
      const interaction = await provider
        .interactionDetails(at.request, at.response)
        .catch((error: unknown) => {
          if ((error as { name?: string }).name === 'SessionNotFound') return undefined;
          throw error;
        });
      return interaction?.uid === at.uid ? work(interaction, provider) : undefined;
    });
  }

  const resume = (
    provider: Provider,
    { request, response }: InteractionRequest,
    result: InteractionResults,
  ) => provider.interactionResult(request, response, result, { mergeWithLastSubmission: true });

  /** @param accountId the user who sees it */
  async function clientSummary(
    provider: Provider,
    clientId: string,
    accountId: string | undefined,
  ): Promise<ClientSummary | undefined> {
    const isTrusted = trustedClients.includes(clientId);
    const owned = await registeredClients.owned(clientId);
    if (owned) {
      const { developerId, name } = owned;
      if (developerId === null) return { clientId, name, isTrusted, owner: { kind: 'itself' } };
      const isCurrentUser = developerId === accountId;
      return { clientId, name, isTrusted, owner: { kind: 'developer', developerId, isCurrentUser } };
    }
    const found = await provider.Client.find(clientId);
    if (!found) return undefined;
    const { host } = new URL(clientId);
    return { clientId, name: String(found.clientName ?? host), isTrusted, owner: { kind: 'host', host } };
  }

  return {
    interaction: (at) =>
      withInteraction<OAuthPage | undefined>(at, async ({ prompt, params, session }, provider) => {
        const client = await clientSummary(provider, String(params['client_id']), session?.accountId);
        if (!client) return undefined;
        const redirectUri = textOf(params['redirect_uri']);
        if (prompt.name === 'login') {
          const email = textOf(params['login_hint']) ?? '';
          return { kind: 'sign-in', client, redirectUri, email, alert: undefined };
        }
        const profile = session && (await developers.profile(session.accountId));
        if (!profile) return undefined;
        const scopes = knownScopes(textOf(params['scope']));
        return { kind: 'consent', client, redirectUri, scopes, email: profile.email };
      }),

    signIn: (at, { email, password }) =>
      withInteraction<string | undefined>(at, async (interaction, provider) => {
        if (interaction.prompt.name !== 'login') return undefined;
        // The same limit as for logins by API: the page must not be a second way to guess passwords.
        await limits.assertRequestAllowed(['developers'], at.client.address);
        const developer = await developers.verifyPassword(email, password, at.client);
        const accountId = developer.developerId;
        const { session } = interaction;
        if (session && session.accountId !== accountId) {
          // Another user was signed in: the browser starts a new session.
          await (await provider.Session.findByUid(session.uid))?.destroy();
          delete (interaction as { session?: unknown }).session;
          await interaction.persist();
        }
        return resume(provider, at, { login: { accountId, amr: ['pwd'] }, generation: developer.generation });
      }),

    decide: (at, isAllowed) =>
      withInteraction<string | undefined>(at, async (interaction, provider) => {
        if (!isAllowed) {
          const error = { error: 'access_denied', error_description: 'The user denied the request.' };
          return resume(provider, at, error);
        }
        const { prompt, params, session, grantId } = interaction;
        if (prompt.name !== 'consent' || !session) return undefined;
        const clientId = String(params['client_id']);
        const { accountId } = session;
        const { address } = at.client;
        const scopes = knownScopes(textOf(params['scope']));
        return inOneTransaction(async (trx) => {
          // Of several clicks, the first one counts and the others continue where it does.
          await takeAdvisoryLock(trx, `oauth interaction ${at.uid}`);
          // Ending all sessions and authorizations happens before this, which ends the interaction, or after it.
          await developers.lockSessionForShare(trx, { developerId: accountId });
          const waiting = await provider.Interaction.find(at.uid);
          if (!waiting || waiting.result?.consent) return waiting?.returnTo;
          const found = grantId === undefined ? undefined : await provider.Grant.find(grantId);
          const grant = found ?? new provider.Grant({ accountId, clientId, jti: newId('grt') } as never);
          grant.addOIDCScope(scopes);
          for (const resource of [params['resource'] ?? []].flat())
            grant.addResourceScope(String(resource), scopes);
          // Its lifetime starts again.
          delete (grant as { exp?: number }).exp;
          await grant.save();
          const actor = { kind: 'developer', id: accountId, developerId: accountId, address } as const;
          await audit.record(trx, actor, {
            action: 'authorization.granted',
            target: grant.jti,
            data: { client_id: clientId, scopes },
          });
          return resume(provider, at, { consent: { grantId: grant.jti } });
        });
      }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
