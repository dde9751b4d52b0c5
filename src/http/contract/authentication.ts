import type { Context, Operation } from 'openapi-backend';
import type { HandlerRequest } from '../../../handlers/handler.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Services } from '../../services.ts';
import { bearerToken } from '../transport/bearer.ts';
import type { Exchange, Resource } from './exchange.ts';
import { assertSameOrigin } from './same-origin.ts';

type Found = Pick<
  HandlerRequest<'getHealth'>,
  'actor' | 'scopes' | 'resellerId' | 'session' | 'isStillAllowed' | 'agent'
>;

/** The identity behind a request's bearer token, as handlers get it. */
export type Identity = Partial<Omit<Found, 'scopes'>> & { readonly scopes?: readonly string[] };

type Bearer = Awaited<ReturnType<Services['bearerTokens']['authenticate']>>;

/** The extension of an operation with a bearer token. */
type BearerMark = Operation & {
  /** The kind of token that it requires. */
  readonly 'x-bearer-token': 'developer' | 'reseller' | 'administrator' | 'agent' | 'session';
};

/**
 * The security scheme of the contract. It returns the identity behind a bearer token, or nothing for a token of another
 * kind than the operation's. It refuses a token without a scope of the operation's `x-scopes`, and a delegated token
 * where `x-not-delegated` is set.
 * @param now the current time
 */
export function createAuthentication(services: Services, now: () => Date) {
  const { addresses, administrators, browserSessions, sessions } = services;
  const bearerOf = createBearerOf(services);

  async function developerOf(token: string, { address, resource }: Origin): Promise<Identity | undefined> {
    const bearer = await bearerOf(token, resource);
    if (!bearer || bearer.kind === 'reseller' || bearer.kind === 'payment') return undefined;
    const { kind, id, developerId, scopes, sessionDigest } = bearer;
    // An agent without a developer, such as an unclaimed one, has no scope for developer operations.
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

  const identify = {
    developer: developerOf,
    reseller: resellerOf,
    administrator: administratorOf,
    agent: agentOf,
  };

  /** The identity behind the cookie of a browser session; undefined if it is of another kind than the operation. */
  async function ofBrowser({ operation, request, client }: Exchange): Promise<Identity | undefined> {
    const session = await browserSessions.authenticate(request.headers.cookie, client);
    if (session?.kind !== (operation as BearerMark)['x-bearer-token']) return undefined;
    const { actor, scopes, resellerId, kind } = session;
    if (kind === 'administrator') return { actor };
    return { actor, scopes, ...(resellerId !== null && { resellerId }) };
  }

  /** How to find the identity of a request; undefined if it has no credential. */
  function identification(exchange: Exchange): (() => Promise<Identity | undefined>) | undefined {
    const { operation, request, client, resource = 'api' } = exchange;
    const { 'x-bearer-token': kind } = operation as BearerMark;
    const { authorization, cookie } = request.headers;
    const token = bearerToken(authorization);
    if (token !== undefined) {
      if (kind === 'session')
        return async () => ({ session: await sessions.identify(token, client, exchange.trust) });
      return () => identify[kind](token, { address: client.address, resource });
    }
    const acceptsCookie = kind === 'developer' || kind === 'reseller' || kind === 'administrator';
    if (!acceptsCookie || resource !== 'api' || authorization !== undefined) return undefined;
    if (!browserSessions.hasCookie(cookie)) return undefined;
    assertSameOrigin(request, addresses);
    return () => ofBrowser(exchange);
  }

  async function BearerToken(
    context: Context,
    _request: unknown,
    exchange: Exchange,
  ): Promise<Identity | undefined> {
    const identityNow = identification(exchange);
    const identity = await identityNow?.();
    if (!identity || identity.session) return identity;
    assertScopes(context.operation, identity.scopes ?? []);
    assertNotDelegated(context.operation, identity);
    if (!identity.actor && !identity.agent) return undefined;
    const isStillAllowed = () => isFound(identityNow!);
    return { ...identity, isStillAllowed };
  }

  return { BearerToken };
}

/** Whether a credential is still accepted. @throws errors of the service itself, which say nothing about it */
async function isFound(identityNow: () => Promise<Identity | undefined>): Promise<boolean> {
  try {
    return (await identityNow()) !== undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'ACCOUNT_SUSPENDED') return false;
    throw error;
  }
}

/** The identity that the security scheme found for a request. */
export function identityOf({ security }: Context): Identity {
  return Object.assign(
    {},
    ...Object.values(security ?? {}).filter((found) => typeof found === 'object'),
  ) as Identity;
}

/**
 * The error of the security scheme. openapi-backend treats every error as wrong credentials, even a lost database
 * connection.
 */
export function faultOf(context: Context): unknown {
  const faulty = Object.values(context.security ?? {}).find(
    (result): result is { error: unknown } =>
      typeof result === 'object' && result !== null && 'error' in result,
  );
  return faulty?.error;
}

/**
 * Finds the identity behind a bearer token.
 * @returns looks up a token for a `resource`; a token for another resource is not valid (RFC 8707). It throws ApiError
 *   ACCOUNT_SUSPENDED for a token of a suspended developer.
 */
export function createBearerOf({ addresses, bearerTokens }: Pick<Services, 'addresses' | 'bearerTokens'>) {
  return async (token: string, resource: Resource): Promise<Bearer> => {
    const bearer = await bearerTokens.authenticate(token);
    if (!bearer) return undefined;
    const own = [addresses.issuer(), addresses.web(), ...(resource === 'mcp' ? [addresses.mcp()] : [])];
    if (bearer.audience !== null && !own.includes(bearer.audience)) return undefined;
    if (bearer.suspended) throw new ApiError('ACCOUNT_SUSPENDED');
    return bearer;
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
