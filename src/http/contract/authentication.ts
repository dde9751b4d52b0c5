import type { Context, Operation } from 'openapi-backend';
import type { HandlerRequest } from '../../../handlers/handler.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Services } from '../../services.ts';
import { bearerToken } from '../transport/bearer.ts';
import type { Exchange, Resource } from './exchange.ts';
import { paymentCredential } from './payment-credential.ts';
import type { ContractRequest } from './table-router.ts';

type Found = Pick<
  HandlerRequest<'getHealth'>,
  'actor' | 'scopes' | 'resellerId' | 'session' | 'stillHolds' | 'agent' | 'payment'
>;

/** Whom a request's bearer token stands for, as handlers get it. */
export type Identity = Partial<Omit<Found, 'scopes'>> & { readonly scopes?: readonly string[] };

type Bearer = Awaited<ReturnType<Services['bearerTokens']['authenticate']>>;

/**
 * The security schemes of the contract. Each gives what its token stands for, nothing for a token of another kind, and
 * refuses a token that lacks a scope of the operation's `x-scopes`, and a delegated one where `x-not-delegated` is set.
 * @param now the present
 */
export function createAuthentication(services: Services, now: () => Date) {
  const { administrators, sessions } = services;
  const bearerOf = createBearerOf(services);

  async function developerOf(token: string, { address, resource }: Origin): Promise<Identity | undefined> {
    const bearer = await bearerOf(token, resource);
    if (!bearer || bearer.kind === 'reseller' || bearer.kind === 'payment') return undefined;
    const { kind, id, developerId, scopes, sessionDigest } = bearer;
    // What acts for nobody, such as an agent that nobody has claimed, has no scope of any operation for developers.
    if (developerId === null) return { scopes: [] };
    const actor = { kind, id, developerId, address, ...(sessionDigest && { sessionDigest }) };
    return { actor, scopes };
  }

  async function resellerOf(token: string, { address, resource }: Origin): Promise<Identity | undefined> {
    const bearer = await bearerOf(token, resource);
    if (bearer?.kind !== 'reseller') return undefined;
    const { id, developerId, scopes } = bearer;
    return { actor: { kind: 'reseller', id, developerId: developerId!, address }, scopes, resellerId: id };
  }

  async function agentOf(token: string, { resource }: Origin): Promise<Identity | undefined> {
    const bearer = await bearerOf(token, resource);
    if (bearer?.kind !== 'agent' && bearer?.kind !== 'payment') return undefined;
    const { id, developerId, scopes, expiresAt } = bearer;
    const left = expiresAt!.getTime() - now().getTime();
    const agent = {
      id,
      scopes,
      expiresAt: expiresAt!,
      expiresInSeconds: Math.floor(left / 1000),
      isClaimed: developerId !== null,
    };
    return { agent, scopes };
  }

  async function administratorOf(token: string, { address }: Origin): Promise<Identity | undefined> {
    const actor = administrators.authenticate(token, address);
    return actor && { actor };
  }

  const scheme =
    (identify: (token: string, origin: Origin) => Promise<Identity | undefined>) =>
    async (context: Context, _request: unknown, { resource = 'api' }: Exchange) => {
      const { headers, client } = context.request as unknown as ContractRequest;
      const token = bearerToken(headers['authorization']);
      const origin = { address: client.address, resource };
      const identity = token === undefined ? undefined : await identify(token, origin);
      if (!identity) return undefined;
      assertScopes(context.operation, identity.scopes ?? []);
      assertNotDelegated(context.operation, identity);
      if (!identity.actor && !identity.agent) return undefined;
      const stillHolds = async () => (await identify(token!, origin)) !== undefined;
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

/** The identity that the security schemes of a request have found. */
export function identityOf({ security }: Context): Identity {
  return Object.assign(
    {},
    ...Object.values(security ?? {}).filter((found) => typeof found === 'object'),
  ) as Identity;
}

/** The error of a security scheme. openapi-backend takes every one for wrong credentials, even a lost database. */
export function faultOf(context: Context): unknown {
  const faulty = Object.values(context.security ?? {}).find(
    (result): result is { error: unknown } =>
      typeof result === 'object' && result !== null && 'error' in result,
  );
  return faulty?.error;
}

/**
 * Tells whom a bearer token stands for.
 * @returns with `resource`, what the request is for: a token for another resource is no token here (RFC 8707)
 */
export function createBearerOf({ addresses, bearerTokens }: Pick<Services, 'addresses' | 'bearerTokens'>) {
  return async (token: string, resource: Resource): Promise<Bearer> => {
    const bearer = await bearerTokens.authenticate(token);
    if (!bearer || bearer.audience === null) return bearer;
    const own = [addresses.issuer(), addresses.web(), ...(resource === 'mcp' ? [addresses.mcp()] : [])];
    return own.includes(bearer.audience) ? bearer : undefined;
  };
}

interface Origin {
  readonly address: string;
  readonly resource: Resource;
}

function assertNotDelegated(operation: Operation, { actor }: Identity): void {
  if ((operation as { 'x-not-delegated'?: boolean })['x-not-delegated'] !== true) return;
  if (actor?.kind === 'oauth_client' || actor?.kind === 'agent') throw new ApiError('DELEGATED_CREDENTIAL');
}

function assertScopes(operation: Operation, held: readonly string[]): void {
  const demanded = (operation as { 'x-scopes'?: readonly string[] })['x-scopes'] ?? [];
  if (demanded.every((scope) => held.includes(scope))) return;
  throw new ApiError('INSUFFICIENT_SCOPE', {
    detail: `The operation requires the scope ${demanded.join(' ')}.`,
    members: { scope: demanded.join(' ') },
  });
}
