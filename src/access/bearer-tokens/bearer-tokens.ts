import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Agents } from '../agents/agents.ts';
import type { ApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import { OWN_CLIENT, SCOPES, type Developers, type Scope } from '../../accounts/developers/developers.ts';
import type { MachinePayments } from '../../commerce/machine-payments/machine-payments.ts';
import type { SigningKeys } from '../../foundation/signing-keys/signing-keys.ts';
import { readClaimed } from '../../foundation/tokens/tokens.ts';

/** The identity behind a valid bearer token. */
export interface Bearer {
  /** `payment` is an agent that has paid and belongs to no developer. */
  readonly kind: 'developer' | 'api_token' | 'reseller' | 'oauth_client' | 'agent' | 'payment';
  /** The id of the developer, API token, reseller, client, agent or payment. */
  readonly id: string;
  /** `client_id` of RFC 7662: the client that the token was issued to. */
  readonly clientId: string;
  /** The developer that it acts for, if any. */
  readonly developerId: string | null;
  readonly scopes: readonly Scope[];
  /** The only resource that the token is for; null for all. */
  readonly audience: string | null;
  readonly issuedAt: Date;
  /** Null for never. */
  readonly expiresAt: Date | null;
  /** Whether the administrator has suspended the developer: the caller refuses the request. */
  readonly suspended: boolean;
  /** Identifies the session of a `developer`. */
  readonly sessionDigest?: Buffer;
}

/** The tokens of developers, of clients that act for them, and of agents, regardless of which part issued them. */
export interface BearerTokens {
  /** Returns the bearer of a token; undefined if it is not valid or belongs to an end user's session. */
  authenticate(token: string): Promise<Bearer | undefined>;
}

interface Dependencies {
  readonly developers: Pick<Developers, 'authenticate' | 'scopes'>;
  readonly apiTokens: Pick<ApiTokens, 'authenticate'>;
  readonly accessTokens: Pick<AccessTokens, 'authenticate'>;
  readonly agents: Pick<Agents, 'authenticate' | 'isAlive'>;
  readonly machinePayments: Pick<MachinePayments, 'authenticate'>;
  readonly signingKeys: Pick<SigningKeys, 'isTrusted'>;
}

/** Prefixes of tokens that are no JWTs. */
const API_TOKEN = /^lk[dr]_/;
const AGENT_CREDENTIAL = /^lk[ae]_/;

export function createBearerTokens(deps: Dependencies): BearerTokens {
  const { developers, apiTokens, accessTokens, agents, machinePayments, signingKeys } = deps;

  async function ofDeveloper(token: string): Promise<Bearer | undefined> {
    const found = await developers.authenticate(token);
    if (!found) return undefined;
    const { developerId, sessionDigest, issuedAt, expiresAt, suspended } = found;
    return {
      kind: 'developer',
      id: developerId,
      clientId: OWN_CLIENT,
      developerId,
      scopes: developers.scopes,
      audience: null,
      issuedAt,
      expiresAt,
      suspended,
      sessionDigest,
    };
  }

  async function ofApiToken(token: string): Promise<Bearer | undefined> {
    const found = await apiTokens.authenticate(token);
    if (!found) return undefined;
    const { tokenId, developerId, resellerId, scopes, issuedAt, expiresAt, suspended } = found;
    return {
      kind: resellerId === null ? 'api_token' : 'reseller',
      id: resellerId ?? tokenId,
      clientId: tokenId,
      developerId,
      scopes,
      audience: null,
      issuedAt,
      expiresAt,
      suspended,
    };
  }

  async function ofClient(token: string): Promise<Bearer | undefined> {
    const found = await accessTokens.authenticate(token);
    if (!found) return undefined;
    const { clientId, agentId, developerId, audience, issuedAt, expiresAt, suspended } = found;
    // A token that is issued while its agent is being revoked escapes that revocation.
    if (agentId !== null && !(await agents.isAlive(agentId))) return undefined;
    // The scopes of OpenID Connect give no access to the API.
    const scopes = SCOPES.filter((scope) => found.scopes.includes(scope));
    const identity =
      agentId === null
        ? { kind: 'oauth_client' as const, id: clientId }
        : { kind: 'agent' as const, id: agentId };
    return { ...identity, clientId, developerId, scopes, audience, issuedAt, expiresAt, suspended };
  }

  async function ofAgent(token: string): Promise<Bearer | undefined> {
    const found = await agents.authenticate(token);
    if (!found) return undefined;
    const { agentId, developerId, scopes, issuedAt, expiresAt, suspended } = found;
    return {
      kind: 'agent',
      id: agentId,
      clientId: agentId,
      developerId,
      scopes,
      audience: null,
      issuedAt,
      expiresAt,
      suspended,
    };
  }

  async function ofPayment(token: string): Promise<Bearer | undefined> {
    const found = await machinePayments.authenticate(token);
    if (!found) return undefined;
    const { reference, scopes, issuedAt, expiresAt } = found;
    return {
      kind: 'payment',
      id: reference,
      clientId: reference,
      developerId: null,
      scopes,
      audience: null,
      issuedAt,
      expiresAt,
      suspended: false,
    };
  }

  return {
    async authenticate(token) {
      if (API_TOKEN.test(token)) return ofApiToken(token);
      if (AGENT_CREDENTIAL.test(token)) return ofAgent(token);
      const claimed = readClaimed(token);
      if (!claimed) return undefined;
      const { typ, keyId, clientId } = claimed;
      if (keyId !== undefined && !signingKeys.isTrusted(keyId)) return undefined;
      // Tokens of earlier versions have types of their own.
      if (typ === 'developer+jwt' || clientId === OWN_CLIENT) return ofDeveloper(token);
      if (typ === 'agent+jwt' || clientId?.startsWith('pay_')) return ofPayment(token);
      if (typ === 'sandbox+jwt' || clientId?.startsWith('agt_')) return ofAgent(token);
      return typ === 'at+jwt' ? ofClient(token) : undefined;
    },
  };
}
