import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Agents } from '../agents/agents.ts';
import type { ApiTokens } from '../api-tokens/api-tokens.ts';
import { OWN_CLIENT, SCOPES, type Developers, type Scope } from '../developers/developers.ts';
import type { MachinePayments } from '../machine-payments/machine-payments.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';
import { readClaimed } from '../tokens/tokens.ts';

/** Whom a bearer token stands for now. */
export interface Bearer {
  /** `payment` is an agent that has paid and is nobody's. */
  readonly kind: 'developer' | 'api_token' | 'reseller' | 'oauth_client' | 'agent' | 'payment';
  /** Of the developer, API token, reseller, client, agent or payment. */
  readonly id: string;
  /** What the token was issued to: `client_id` of RFC 7662. */
  readonly clientId: string;
  /** For whom it acts; null for nobody. */
  readonly developerId: string | null;
  readonly scopes: readonly Scope[];
  /** The only resource that it is for; null for all. */
  readonly audience: string | null;
  readonly issuedAt: Date;
  /** Null for never. */
  readonly expiresAt: Date | null;
  /** Names the developer's session, of `developer`. */
  readonly sessionDigest?: Buffer;
}

/** The tokens of developers, of programs that act for them, and of agents, whichever part of the service has issued them. */
export interface BearerTokens {
  /** Whom a token stands for; undefined when it is nobody's, or is that of an end user's session. */
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

/** What no JWT begins with. */
const API_TOKEN = /^lk[dr]_/;
const AGENT_CREDENTIAL = /^lk[ae]_/;

export function createBearerTokens(deps: Dependencies): BearerTokens {
  const { developers, apiTokens, accessTokens, agents, machinePayments, signingKeys } = deps;

  async function ofDeveloper(token: string): Promise<Bearer | undefined> {
    const found = await developers.authenticate(token);
    if (!found) return undefined;
    const { developerId, sessionDigest, issuedAt, expiresAt } = found;
    return {
      kind: 'developer',
      id: developerId,
      clientId: OWN_CLIENT,
      developerId,
      scopes: developers.scopes,
      audience: null,
      issuedAt,
      expiresAt,
      sessionDigest,
    };
  }

  async function ofApiToken(token: string): Promise<Bearer | undefined> {
    const found = await apiTokens.authenticate(token);
    if (!found) return undefined;
    const { tokenId, developerId, resellerId, scopes, issuedAt, expiresAt } = found;
    return {
      kind: resellerId === null ? 'api_token' : 'reseller',
      id: resellerId ?? tokenId,
      clientId: tokenId,
      developerId,
      scopes,
      audience: null,
      issuedAt,
      expiresAt,
    };
  }

  async function ofClient(token: string): Promise<Bearer | undefined> {
    const found = await accessTokens.authenticate(token);
    if (!found) return undefined;
    const { clientId, agentId, developerId, audience, issuedAt, expiresAt } = found;
    // One that is issued while its agent is revoked comes too late to be revoked with it.
    if (agentId !== null && !(await agents.isAlive(agentId))) return undefined;
    // Those of OpenID Connect are none of the API's.
    const scopes = SCOPES.filter((scope) => found.scopes.includes(scope));
    const who =
      agentId === null
        ? { kind: 'oauth_client' as const, id: clientId }
        : { kind: 'agent' as const, id: agentId };
    return { ...who, clientId, developerId, scopes, audience, issuedAt, expiresAt };
  }

  async function ofAgent(token: string): Promise<Bearer | undefined> {
    const found = await agents.authenticate(token);
    if (!found) return undefined;
    const { agentId, developerId, scopes, issuedAt, expiresAt } = found;
    return {
      kind: 'agent',
      id: agentId,
      clientId: agentId,
      developerId,
      scopes,
      audience: null,
      issuedAt,
      expiresAt,
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
      // Tokens of before were of types of their own.
      if (typ === 'developer+jwt' || clientId === OWN_CLIENT) return ofDeveloper(token);
      if (typ === 'agent+jwt' || clientId?.startsWith('pay_')) return ofPayment(token);
      if (typ === 'sandbox+jwt' || clientId?.startsWith('agt_')) return ofAgent(token);
      return typ === 'at+jwt' ? ofClient(token) : undefined;
    },
  };
}
