import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  POST_CLAIM_SCOPES,
  PRE_CLAIM_SCOPES,
  type CredentialType,
} from '../../../src/access/agents/agents.ts';
import { tokenDigest } from '../../../src/foundation/tokens/tokens.ts';
import { operations, type ContractOperation } from '../../contract/operations.ts';
import { examplePath, newOwner, resellerToken } from '../../contract/parameters.ts';
import { newAgentToken } from '../../operations/support/machine-payments.ts';
import { newApiToken } from '../../operations/support/tokens.ts';
import { newSession, unique } from '../../support/fixtures.ts';
import { ADMIN_TOKEN, startTestService } from '../../support/service.ts';

const service = await startTestService();
const { api, clock, database, services, baseUrl } = service;
const owner = await newOwner(api);
const { app, developer } = owner;
const HOUR = 3_600_000;
const DEVELOPER_SCOPES = ['read', 'write', 'auth:dev', 'agent:register', 'agent:execute'] as const;

/** A credential, and what the contract allows it. */
interface Held {
  readonly name: string;
  readonly token: string;
  /** The kinds of bearer tokens that it is. */
  readonly kinds: readonly string[];
  readonly scopes: readonly string[];
  /** Whether a developer delegated to it. */
  readonly isDelegated?: boolean;
  /** Whether it acts for no developer. */
  readonly hasNoDeveloper?: boolean;
}

/** An access token (RFC 9068) signed by our key, with or without a stored row. */
function signed(clientId: string, audience: string, scopes: readonly string[]): Promise<string> {
  const seconds = Math.floor(clock.now().getTime() / 1000);
  return services.signingKeys.sign('at+jwt', {
    iss: baseUrl,
    sub: developer.developerId,
    aud: audience,
    client_id: clientId,
    scope: scopes.join(' '),
    iat: seconds,
    exp: seconds + 3600,
    jti: randomBytes(16).toString('base64url'),
  });
}

/** An access token as the authorization server issues it. */
async function accessToken(
  scopes: readonly string[],
  more: { audience?: string; developerId?: string | null; agentId?: string; clientId?: string } = {},
): Promise<string> {
  const issued = { clientId: unique('cli'), developerId: developer.developerId, agentId: null, ...more };
  const audience = more.audience ?? baseUrl;
  const token = await signed(issued.clientId, audience, scopes);
  const expiresAt = new Date(clock.now().getTime() + HOUR);
  const row = { ...issued, grantId: null, scopes, audience, expiresAt };
  await services.accessTokens.register(database.knex, token, row);
  return token;
}

async function newAgentRow(developerId: string | null): Promise<string> {
  const agentId = `agt_${randomBytes(13).toString('hex')}`;
  await database.knex('agents').insert({
    agent_id: agentId,
    developer_id: developerId,
    registration_type: developerId === null ? 'anonymous' : 'developer',
    created_at: clock.now(),
    claimed_at: developerId === null ? null : clock.now(),
  });
  return agentId;
}

/** A stored credential of an agent. */
async function agentCredential(
  type: CredentialType,
  developerId: string | null,
  scopes: readonly string[],
): Promise<string> {
  const agentId = await newAgentRow(developerId);
  const make: Readonly<Record<CredentialType, () => string | Promise<string>>> = {
    bearer_token: () => `lka_${randomBytes(32).toString('base64url')}`,
    ephemeral_key: () => `lke_${randomBytes(32).toString('base64url')}`,
    jwt: () => signed(agentId, baseUrl, scopes),
    sandbox_token: async () =>
      (await api.sandbox({ app_id: 'sandbox', username: agentId, hwid: unique('hwid') })).body.token,
  };
  const token = await make[type]();
  await database.knex('agent_credentials').insert({
    token_digest: tokenDigest(token),
    agent_id: agentId,
    credential_type: type,
    scopes: [...scopes],
    created_at: clock.now(),
    expires_at: new Date(clock.now().getTime() + HOUR),
  });
  return token;
}

const forDevelopers = { kinds: ['developer'] };
const forAgents = { kinds: ['developer', 'agent'] };
const session = await newSession(api, app);
const application = await services.applications.authenticate(app.app_id, app.secret);
// A second user, because a login ends the user's other sessions.
const { owner: user } = await newSession(api, app);
const { session: encrypted } = await services.logins.withPassword(application, user, 'encrypted', {
  address: '127.0.0.1',
});
const nothing = { kinds: [], scopes: [] };

const held: Held[] = [
  { name: "a developer's session", token: developer.token, scopes: DEVELOPER_SCOPES, ...forDevelopers },
  { name: "the administrator's", token: ADMIN_TOKEN, kinds: ['administrator'], scopes: [] },
  ...[session.token, session.session_id, encrypted.token].map((token, index) => ({
    name: `a user's session token of form ${index + 1}`,
    token,
    kinds: ['session'],
    scopes: [],
  })),
  {
    name: "a paid agent's",
    token: await newAgentToken(api),
    kinds: ['agent'],
    scopes: ['agent:execute'],
  },
  {
    name: 'a sandbox session',
    token: (await api.sandbox({ app_id: app.app_id, username: 'agent', hwid: 'machine' })).body.token,
    ...nothing,
  },
];
for (const scope of DEVELOPER_SCOPES) {
  const { token } = await newApiToken(api, developer, [scope]);
  held.push({ name: `an API token for ${scope}`, token, scopes: [scope], ...forDevelopers });
}
for (const scope of ['read', 'write']) {
  const token = await resellerToken(owner, [scope]);
  held.push({ name: `a reseller's for ${scope}`, token, kinds: ['reseller'], scopes: [scope] });
}
for (const scope of [...DEVELOPER_SCOPES, 'openid', 'auth:client']) {
  const token = await accessToken([scope]);
  held.push({ name: `a client's for ${scope}`, token, scopes: [scope], isDelegated: true, ...forDevelopers });
}
const all = { scopes: DEVELOPER_SCOPES, isDelegated: true };
held.push(
  { name: "a client's for everything", token: await accessToken(DEVELOPER_SCOPES), ...all, ...forDevelopers },
  {
    name: "a client's without a developer",
    token: await accessToken(DEVELOPER_SCOPES, { developerId: null }),
    hasNoDeveloper: true,
    ...all,
    ...forDevelopers,
  },
  {
    name: "an agent's by an assertion",
    token: await accessToken(DEVELOPER_SCOPES, { agentId: await newAgentRow(developer.developerId) }),
    ...all,
    ...forAgents,
  },
);
for (const audience of [`${baseUrl}/mcp`, 'https://elsewhere.example.com', '', `${baseUrl}/`]) {
  const token = await accessToken(DEVELOPER_SCOPES, { audience });
  held.push({ name: `a client's for the audience '${audience.replace(baseUrl, '…')}'`, token, ...nothing });
}
for (const type of ['bearer_token', 'jwt', 'ephemeral_key', 'sandbox_token'] as const) {
  const token = await agentCredential(type, developer.developerId, POST_CLAIM_SCOPES);
  const claimed = { scopes: POST_CLAIM_SCOPES, isDelegated: true, ...forAgents };
  held.push({ name: `a claimed agent's ${type}`, token, ...claimed });
}
for (const type of ['ephemeral_key', 'sandbox_token'] as const) {
  const scopes = PRE_CLAIM_SCOPES[type];
  const token = await agentCredential(type, null, scopes);
  held.push({ name: `an unclaimed agent's ${type}`, token, scopes, hasNoDeveloper: true, ...forAgents });
}
// Signed by our key, but never issued.
for (const clientId of ['latchkey', 'cli_1', 'agt_1', 'pay_1']) {
  const token = await signed(clientId, baseUrl, DEVELOPER_SCOPES);
  held.push({ name: `a signed token of ${clientId} without a row`, token, ...nothing });
}

/** What the contract says about an operation with this credential. */
function expected({ tokenKind, scopes, notDelegated }: ContractOperation, credential: Held): string {
  // No token is checked here, or none that is a bearer token.
  if (tokenKind === undefined) return 'open';
  if (!credential.kinds.includes(tokenKind)) return '401';
  const hasNoDeveloper = credential.hasNoDeveloper === true && tokenKind === 'developer';
  if (!scopes.every((scope) => !hasNoDeveloper && credential.scopes.includes(scope)))
    return 'INSUFFICIENT_SCOPE';
  if (hasNoDeveloper) return '401';
  if (notDelegated && credential.isDelegated) return 'DELEGATED_CREDENTIAL';
  return 'admitted';
}

/** The result of a request that changes nothing: if it is admitted, it fails for its unknown parameter. */
async function actual(operation: ContractOperation, { token }: Held): Promise<string> {
  const { method, path, requestBody, tokenKind } = operation;
  const query = `${examplePath(path)}?no_such_parameter=1`;
  const { status, body } = await api.call(method, query, requestBody?.example, {
    token,
    ...(requestBody && { headers: { 'content-type': requestBody.mediaType } }),
  });
  const code = String((body as { code?: unknown } | undefined)?.code);
  if (tokenKind === undefined) {
    const refusals = ['UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'DELEGATED_CREDENTIAL'];
    return refusals.includes(code) || status >= 500 ? code : 'open';
  }
  if (status === 401 && ['UNAUTHORIZED', 'SESSION_INVALID'].includes(code)) return '401';
  if (status === 403) return code;
  return JSON.stringify(body).includes('no_such_parameter') ? 'admitted' : `${status} ${code}`;
}

test('the credentials are distinct and cover every kind of bearer token', () => {
  expect(new Set(held.map(({ name }) => name)).size).toBe(held.length);
  expect(new Set(held.map(({ token }) => token)).size).toBe(held.length);
  for (const kind of new Set(operations.flatMap(({ tokenKind }) => tokenKind ?? []))) {
    expect(
      held.filter(({ kinds }) => kinds.includes(kind)),
      kind,
    ).not.toEqual([]);
  }
});

describe('every operation admits what the contract says', () => {
  test.each(held)('$name', async (credential) => {
    const wrong: string[] = [];
    for (const operation of operations) {
      const [should, is] = [expected(operation, credential), await actual(operation, credential)];
      if (is !== should) wrong.push(`${operation.operationId}: ${is} instead of ${should}`);
    }
    expect(wrong).toEqual([]);
  });
});
