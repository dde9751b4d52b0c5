import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import type { Client } from '../platform/address.ts';
import { lockExclusive } from '../platform/database/advisory-lock.ts';
import { exchanges } from './exchange.ts';
import type { OAuthPage, ShownClient } from './page.ts';
import type { ProviderDependencies } from './library.ts';
import { knownScopes } from './scope-state.ts';

/** A page that waits for what somebody decides. Its cookie speaks for the browser that was sent there. */
export interface Interactions {
  /** What is asked; undefined when that is over, or was never asked in this browser. */
  interaction(at: At): Promise<OAuthPage | undefined>;
  /**
   * Signs a developer in.
   * @returns where to go on; undefined like `interaction`
   * @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS
   */
  signIn(
    at: At,
    credentials: { readonly email: string; readonly password: string },
  ): Promise<string | undefined>;
  /** Lets a client act, or not. @returns where to go on; undefined like `interaction` */
  decide(at: At, isAllowed: boolean): Promise<string | undefined>;
}

/** Where something was decided. */
export interface At {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The id in the address of the page. */
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
    at: At,
    work: (interaction: Interaction, provider: Provider) => Promise<Result>,
  ): Promise<Result | undefined> {
    const provider = await current();
    return exchanges.run({ address: at.client.address }, async () => {
      const interaction = await provider
        .interactionDetails(at.request, at.response)
        .catch((error: unknown) => {
          if ((error as { name?: string }).name === 'SessionNotFound') return undefined;
          throw error;
        });
      return interaction?.uid === at.uid ? work(interaction, provider) : undefined;
    });
  }

  const goOn = (provider: Provider, { request, response }: At, result: InteractionResults) =>
    provider.interactionResult(request, response, result, { mergeWithLastSubmission: true });

  /** @param accountId who looks at it */
  async function shownClient(
    provider: Provider,
    clientId: string,
    accountId: string | undefined,
  ): Promise<ShownClient | undefined> {
    const isTrusted = trustedClients.includes(clientId);
    const owned = await registeredClients.owned(clientId);
    if (owned) {
      const { developerId, name } = owned;
      if (developerId === null) return { clientId, name, isTrusted, owner: { kind: 'itself' } };
      const isOneself = developerId === accountId;
      return { clientId, name, isTrusted, owner: { kind: 'developer', developerId, isOneself } };
    }
    const found = await provider.Client.find(clientId);
    if (!found) return undefined;
    const { host } = new URL(clientId);
    return { clientId, name: String(found.clientName ?? host), isTrusted, owner: { kind: 'host', host } };
  }

  return {
    interaction: (at) =>
      withInteraction<OAuthPage | undefined>(at, async ({ prompt, params, session }, provider) => {
        const client = await shownClient(provider, String(params['client_id']), session?.accountId);
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
        // One window with the logins of the API: a page must not be another way to try passwords.
        await limits.assertMayAsk(['developers'], at.client.address);
        const who = await developers.verifyPassword(email, password, at.client);
        const accountId = who.developerId;
        const { session } = interaction;
        if (session && session.accountId !== accountId) {
          // Somebody else was signed in here: the browser begins anew.
          await (await provider.Session.findByUid(session.uid))?.destroy();
          delete (interaction as { session?: unknown }).session;
          await interaction.persist();
        }
        return goOn(provider, at, { login: { accountId, amr: ['pwd'] }, generation: who.generation });
      }),

    decide: (at, isAllowed) =>
      withInteraction<string | undefined>(at, async (interaction, provider) => {
        if (!isAllowed) {
          const error = { error: 'access_denied', error_description: 'This was not allowed.' };
          return goOn(provider, at, error);
        }
        const { prompt, params, session, grantId } = interaction;
        if (prompt.name !== 'consent' || !session) return undefined;
        const clientId = String(params['client_id']);
        const { accountId } = session;
        const { address } = at.client;
        const scopes = knownScopes(textOf(params['scope']));
        return inOneTransaction(async (trx) => {
          // Of several clicks the first one is what counts: the others go where it went.
          await lockExclusive(trx, `oauth interaction ${at.uid}`);
          // Whoever ends all that is signed in to, and what was allowed, comes before or after: then this page is gone.
          await developers.holdSession(trx, { developerId: accountId });
          const waiting = await provider.Interaction.find(at.uid);
          if (!waiting || waiting.result?.consent) return waiting?.returnTo;
          const found = grantId === undefined ? undefined : await provider.Grant.find(grantId);
          const grant = found ?? new provider.Grant({ accountId, clientId, jti: newId('grt') } as never);
          grant.addOIDCScope(scopes);
          for (const resource of [params['resource'] ?? []].flat())
            grant.addResourceScope(String(resource), scopes);
          // It lives on from now.
          delete (grant as { exp?: number }).exp;
          await grant.save();
          const actor = { kind: 'developer', id: accountId, developerId: accountId, address } as const;
          await audit.record(trx, actor, {
            action: 'authorization.granted',
            target: grant.jti,
            data: { client_id: clientId, scopes },
          });
          return goOn(provider, at, { consent: { grantId: grant.jti } });
        });
      }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
