import type { Context, Operation } from 'openapi-backend';
import type { HandlerRequest } from '../../handlers/handler.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Services } from '../services.ts';
import { bearerToken } from './bearer.ts';
import type { Exchange } from './contract.ts';
import { paymentCredential } from './payment-credential.ts';
import type { ContractRequest } from './table-router.ts';

type Found = Pick<
  HandlerRequest<'getHealth'>,
  'actor' | 'developerSession' | 'scopes' | 'resellerId' | 'session' | 'stillHolds' | 'agent' | 'payment'
>;

/** Whom a request's bearer token stands for, as handlers get it. */
export type Identity = Partial<Omit<Found, 'scopes'>> & { readonly scopes?: readonly string[] };

/** What only API tokens begin with; those of a session are JWTs. */
const API_TOKEN = /^lk[dr]_/;

/**
 * The security schemes of the contract. Each gives what its token stands for, nothing for a token of another kind, and
 * refuses a token that lacks a scope of the operation's `x-scopes`.
 */
export function createAuthentication(services: Services) {
  const { administrators, apiTokens, developers, machinePayments, sessions } = services;

  async function developerOf(token: string, address: string): Promise<Identity | undefined> {
    if (API_TOKEN.test(token)) {
      const found = await apiTokens.authenticate(token);
      if (!found || found.resellerId !== null) return undefined;
      const { tokenId, developerId, scopes } = found;
      return { actor: { kind: 'api_token', id: tokenId, developerId, address }, scopes };
    }
    const found = await developers.authenticate(token);
    if (!found) return undefined;
    const { developerId, sessionDigest } = found;
    const actor = { kind: 'developer', id: developerId, developerId, address } as const;
    return { actor, scopes: developers.scopes, developerSession: sessionDigest };
  }

  async function resellerOf(token: string, address: string): Promise<Identity | undefined> {
    const found = API_TOKEN.test(token) ? await apiTokens.authenticate(token) : undefined;
    if (!found || found.resellerId === null) return undefined;
    const { resellerId, developerId, scopes } = found;
    return { actor: { kind: 'reseller', id: resellerId, developerId, address }, scopes, resellerId };
  }

  async function agentOf(token: string): Promise<Identity | undefined> {
    const agent = await machinePayments.authenticate(token);
    return agent && { agent, scopes: agent.scopes };
  }

  async function administratorOf(token: string, address: string): Promise<Identity | undefined> {
    const actor = administrators.authenticate(token, address);
    return actor && { actor };
  }

  const scheme =
    (identify: (token: string, address: string) => Promise<Identity | undefined>) =>
    async (context: Context): Promise<Identity | undefined> => {
      const { headers, client } = context.request as unknown as ContractRequest;
      const token = bearerToken(headers['authorization']);
      const identity = token === undefined ? undefined : await identify(token, client.address);
      if (!identity) return undefined;
      assertScopes(context.operation, identity.scopes ?? []);
      const stillHolds = async () => (await identify(token!, client.address)) !== undefined;
      return { ...identity, stillHolds };
    };

  return {
    DeveloperToken: scheme(developerOf),
    ResellerToken: scheme(resellerOf),
    AdministratorToken: scheme(administratorOf),
    AgentToken: scheme(agentOf),
    SessionToken: async (context: Context): Promise<Identity | undefined> => {
      const { headers, client } = context.request as unknown as ContractRequest;
      const token = bearerToken(headers['authorization']);
      return token === undefined ? undefined : { session: await sessions.identify(token, client) };
    },
    // What it is worth is the operation's to find out: only it can ask for another payment.
    Payment: async (
      context: Context,
      _request: unknown,
      { request }: Exchange,
    ): Promise<Identity | undefined> => {
      // A payment by HEAD would buy what is in the body.
      if (request.method === 'HEAD') return undefined;
      const { headers } = context.request as unknown as ContractRequest;
      const payment = paymentCredential(headers['authorization']);
      return payment && { payment };
    },
  };
}

function assertScopes(operation: Operation, held: readonly string[]): void {
  const demanded = (operation as { 'x-scopes'?: readonly string[] })['x-scopes'] ?? [];
  if (demanded.every((scope) => held.includes(scope))) return;
  throw new ApiError('INSUFFICIENT_SCOPE', {
    detail: `The operation demands the scope ${demanded.join(' ')}.`,
    members: { scope: demanded.join(' ') },
  });
}
