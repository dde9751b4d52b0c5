import { afterAll, describe, expect, test } from 'vitest';
import contract from '../../../generated/openapi.json' with { type: 'json' };
import { ACCOUNT_PATHS } from '../../../src/http/pages/account-pages.ts';
import { DISCOVERY_PATHS } from '../../../src/access/discovery/discovery.ts';
import { AGENT_CLAIM_PATHS } from '../../../src/http/pages/agent-claim-pages.ts';
import { OAUTH_PATHS } from '../../../src/http/pages/oauth-paths.ts';
import { PAGE_ROUTES } from '../../../src/http/pages/pages.ts';
import { PAYMENT_PATHS } from '../../../src/http/pages/payment-pages.ts';
import { claim, newEmail, pageFor, register } from '../../operations/support/agents.ts';
import { newResetToken } from '../../operations/support/passwords.ts';
import { openCheckout, sellPlan } from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startIdentityProvider, trusting } from '../../support/identity-provider.ts';
import { beginAuthorization, newClient, REDIRECT_URI } from '../../support/oauth.ts';
import { startWatched, type Attack } from '../support/stalls.ts';
import { repeated, worstShapes } from '../support/worst-bodies.ts';
import { worstForms } from '../support/worst-forms.ts';
import { worstHeaders } from '../support/worst-heads.ts';
import { worstTokens } from '../support/worst-tokens.ts';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
/** The space for a value in the head of a request. */
const LONGEST = 15_000;
const FORM_LIMIT = 4_096;
const OAUTH_LIMIT = 56 * 1024;
const JSON_LIMIT = 131_072;

const provider = await startIdentityProvider();
const service = await startWatched(trusting(provider.issuer));
const { api, stallsOf, seen } = service;
const developer = await newDeveloper(api);
const client = await newClient(api, developer, {
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
});
const basic = `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`;
const { url: authorizing } = await beginAuthorization(api.baseUrl, client);
const redirected = await fetch(authorizing, { redirect: 'manual' });
const cookie = redirected.headers
  .getSetCookie()
  .map((each) => each.split(';', 1)[0])
  .join('; ');
const interaction = new URL(redirected.headers.get('location')!, api.baseUrl).pathname;
const { url: payUrl } = await openCheckout(api, developer, await sellPlan(api));

const endHealth = service.pollHealth();
afterAll(async () => {
  expect([...(await endHealth())]).toContain(200);
});

/** Paths of routes with a parameter that exists, so that their handlers do their work. */
const EXISTING: Record<string, string> = {
  '/oauth/interaction/:uid': interaction,
  '/oauth/authorize/:uid': interaction.replace('interaction', 'authorize'),
  '/pay/:session': new URL(payUrl).pathname,
  '/pay/:session/bank': `${new URL(payUrl).pathname}/bank`,
  '/pay/:session/receipt': `${new URL(payUrl).pathname}/receipt`,
  '/pay/:session/tools': `${new URL(payUrl).pathname}/tools`,
};

test('pages that are linked in mails', async () => {
  const email = newEmail();
  const { claim_token } = (await register(api, { type: 'anonymous' })).body;
  await claim(api, { claim_token, email });
  const claimPath = await pageFor(service as never, email);
  EXISTING['/agent/claim/:view'] = claimPath;
  EXISTING['/agent/claim/:view/reject'] = `${claimPath}/reject`;
  EXISTING['/account/password/:token'] =
    `/account/password/${await newResetToken(service as never, developer.email)}`;
  api.quick = true;
});

interface Posted {
  /** The fields that the route reads, with valid values. */
  readonly fields: Readonly<Record<string, string>>;
  readonly limit: number;
}

const oauth = (...fields: readonly string[]): Posted => ({
  fields: Object.fromEntries(fields.map((field) => [field, 'a'])),
  limit: OAUTH_LIMIT,
});
const page = (fields: Readonly<Record<string, string>>): Posted => ({ fields, limit: FORM_LIMIT });

/** The forms of all routes that take one. */
const FORMS: Readonly<Record<string, Posted>> = {
  '/oauth/token': {
    fields: {
      grant_type: 'client_credentials',
      scope: 'read',
      resource: 'a',
      code: 'a',
      code_verifier: 'a',
      redirect_uri: 'a',
      refresh_token: 'a',
      assertion: 'a',
      device_code: 'a',
      client_id: client.client_id,
    },
    limit: OAUTH_LIMIT,
  },
  '/oauth/revoke': oauth('token', 'token_type_hint', 'client_id'),
  '/oauth/introspect': oauth('token', 'token_type_hint', 'client_id'),
  '/oauth/userinfo': oauth('access_token'),
  '/oauth/device/authorize': oauth('client_id', 'scope', 'resource'),
  '/oauth/device': oauth('user_code', 'xsrf', 'confirm', 'abort'),
  '/oauth/logout/confirm': oauth('xsrf', 'logout'),
  '/oauth/interaction/:uid': page({ action: 'sign-in', email: 'a', password: 'a' }),
  '/account/password': page({ email: 'a%40example.com' }),
  '/account/password/:token': page({ new_password: 'a', end_access: 'no' }),
  '/agent/claim/:view': page({ password: 'a', new_password: 'a' }),
  '/agent/claim/:view/reject': page({}),
  '/pay/:session': page({ name: 'a', number: '4242', expiry: '1%2F30', cvc: '1' }),
  '/pay/:session/bank': page({ decision: 'a' }),
  '/pay/:session/tools': page({ tool: 'dispute:a' }),
};
/** Routes that take JSON. */
const DOCUMENTS = ['/oauth/register', '/mcp'];
/** The query parameters that a route reads. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  '/oauth/authorize': [
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'nonce',
    'prompt',
    'resource',
    'claims',
    'code_challenge',
    'login_hint',
    'id_token_hint',
    'request',
    'ui_locales',
  ],
  '/oauth/device': ['user_code'],
  '/oauth/logout': ['id_token_hint', 'post_logout_redirect_uri', 'state', 'client_id'],
};

const methodsOf: Readonly<Record<string, readonly string[]>> = {
  ...OAUTH_PATHS,
  ...ACCOUNT_PATHS,
  ...AGENT_CLAIM_PATHS,
  ...PAYMENT_PATHS,
  '/mcp': ['POST'],
};
const routes = [...PAGE_ROUTES, ...DISCOVERY_PATHS, '/mcp'];
const posted = routes.filter((route) => methodsOf[route]?.includes('POST'));
const opened = routes.filter((route) => methodsOf[route]?.includes('GET') ?? true);

const pathOf = (route: string) => EXISTING[route] ?? route.replaceAll(/:\w+/g, 'a');

function send(method: string, path: string, headers: Record<string, string>, body?: string): Attack['send'] {
  return async () => (await api.send(method, path, body, { cookie, accept: 'text/html', ...headers })).status;
}

test('every route that takes a body is attacked', () => {
  expect(posted.toSorted()).toEqual([...Object.keys(FORMS), ...DOCUMENTS].toSorted());
});

describe('no form blocks the process', () => {
  test.each(Object.entries(FORMS))('%s', async (route, { fields, limit }) => {
    const headers: Record<string, string> = {
      'content-type': FORM,
      ...(route.startsWith('/oauth/') && !route.includes('interaction') && { authorization: basic }),
    };
    const attacks = worstForms(Object.keys(fields), fields, limit).map(({ name, text }) => ({
      name,
      send: send('POST', pathOf(route), headers, text),
    }));
    expect(await stallsOf(attacks)).toEqual([]);
  });
});

describe('no URL blocks the process', () => {
  const PIECES = ['a', '%41', '.', '%20', '%EF%B7%BA', '@.', '-', '%', '/', ':'];
  const usual =
    `client_id=${client.client_id}&response_type=code&redirect_uri=${encodeURIComponent(REDIRECT_URI)}` +
    `&code_challenge=${'a'.repeat(43)}&code_challenge_method=S256&scope=openid`;

  test.each(opened)('%s', async (route) => {
    const queries = (QUERIES[route] ?? []).flatMap((name) => {
      const rest = usual.replace(new RegExp(`(^|&)${name}=[^&]*`), '');
      return PIECES.map((piece) => ({
        name: `${name} of ${piece}`,
        send: send('GET', `${pathOf(route)}?${rest}&${name}=${repeated(piece, LONGEST - 600)}`, {}),
      }));
    });
    const many = ['a&', '&', '=', 'resource=a&', '%'].map((piece) => ({
      name: `a query of ${piece}`,
      send: send('GET', `${pathOf(route)}?${usual}&${repeated(piece, LONGEST - 600)}`, {}),
    }));
    const segments = (route.includes(':') ? PIECES : []).map((piece) => ({
      name: `a parameter of ${piece}`,
      send: send('GET', route.replaceAll(/:\w+/g, repeated(piece, LONGEST)), {}),
    }));
    expect(await stallsOf([...queries, ...many, ...segments])).toEqual([]);
  });

  test.each([
    '/',
    '/oauth/authorize',
    '/oauth/userinfo',
    '/account/password',
    '/.well-known/oauth-authorization-server',
  ])('%s with long headers', async (path) => {
    const attacks = worstHeaders().map(({ name, headers }) => ({
      name,
      send: send('GET', path, headers as Record<string, string>),
    }));
    expect(await stallsOf(attacks)).toEqual([]);
  });
});

test('no client metadata block the process', async () => {
  const usual = { redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' };
  const members = [
    'client_name',
    'scope',
    'client_uri',
    'logo_uri',
    'tos_uri',
    'grant_types',
    'redirect_uris',
    'contacts',
    'response_types',
    'post_logout_redirect_uris',
    'token_endpoint_auth_method',
  ];
  const space = OAUTH_LIMIT - 500;
  const bodies = [
    ...worstShapes(OAUTH_LIMIT),
    ...members.flatMap((member) =>
      ['a', ' ', '.', '@.', '\u0301', '\ufdfa', 'https://a.'].map((piece) => ({
        name: `${member} of ${piece}`,
        text: JSON.stringify({ ...usual, [member]: piece.repeat(space / Buffer.byteLength(piece)) }),
      })),
    ),
    ...members.flatMap((member) =>
      ['a', 'https://a.example/', '', ':'].map((item) => ({
        name: `a list of ${item} as ${member}`,
        text: JSON.stringify({
          ...usual,
          [member]: Array.from({ length: space / (item.length + 9) }, (_, index) => item + index),
        }),
      })),
    ),
  ];
  const attacks = bodies.map(({ name, text }) => ({
    name,
    send: send('POST', '/oauth/register', { 'content-type': JSON_TYPE }, text),
  }));
  expect(await stallsOf(attacks)).toEqual([]);
});

test('no MCP message blocks the process', async () => {
  const message = (text: string) => `{"jsonrpc":"2.0","id":1,${text}}`;
  const within: readonly (readonly [string, (json: string) => string])[] = [
    ['params', (json) => message(`"method":"tools/call","params":${json}`)],
    [
      'arguments',
      (json) => message(`"method":"tools/call","params":{"name":"get_account","arguments":${json}}`),
    ],
    [
      'arguments of a list',
      (json) =>
        message(`"method":"tools/call","params":{"name":"list_applications","arguments":{"limit":${json}}}`),
    ],
    ['meta', (json) => message(`"method":"tools/list","params":{"_meta":${json}}`)],
    [
      'capabilities',
      (json) =>
        message(
          `"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"a","version":"1"},"capabilities":${json}}`,
        ),
    ],
    ['a result', (json) => `{"jsonrpc":"2.0","id":1,"result":${json}}`],
    ['a method', (json) => `{"jsonrpc":"2.0","id":1,"method":${json}}`],
    ['an error', (json) => `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a","data":${json}}}`],
  ];
  const bodies = [
    ...worstShapes(JSON_LIMIT),
    ...within.flatMap(([where, write]) =>
      worstShapes(JSON_LIMIT - 300).map(({ name, text }) => ({
        name: `${where}: ${name}`,
        text: write(text),
      })),
    ),
  ];
  const headers = {
    'content-type': JSON_TYPE,
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${developer.token}`,
  };
  const attacks = bodies.map(({ name, text }) => ({ name, send: send('POST', '/mcp', headers, text) }));
  expect(await stallsOf(attacks)).toEqual([]);
});

describe('no body of another type blocks the process', () => {
  const app = '/api/v2/dev/apps';

  /** Media types of imports, which bulk.test.ts attacks. */
  const IN_BULK = ['text/csv', 'application/x-ndjson'];
  const tokens = (type: string) => [
    ...worstTokens(provider.issuer, 65_000).map(({ name, text }) => ({
      name,
      send: send('POST', '/api/v1/agent/revoke', { 'content-type': type }, text),
    })),
  ];

  test('every media type is attacked', () => {
    interface Body {
      readonly requestBody?: { readonly content: object };
      readonly 'x-also-accepts'?: object;
    }
    const types = Object.values(contract.paths).flatMap((item) =>
      Object.values(item as Record<string, Body>).flatMap((operation) => [
        ...Object.keys(operation.requestBody?.content ?? {}),
        ...Object.keys(operation['x-also-accepts'] ?? {}),
      ]),
    );
    const attacked = [
      JSON_TYPE,
      'application/octet-stream',
      'application/secevent+jwt',
      'application/logout+jwt',
      ...IN_BULK,
    ];
    expect([...new Set(types)].toSorted()).toEqual(attacked.toSorted());
  });

  test.each(['application/secevent+jwt', 'application/logout+jwt'])('%s', async (type) => {
    expect(await stallsOf(tokens(type))).toEqual([]);
  });

  test('assertions of agents', async () => {
    const attacks = worstTokens(provider.issuer, 16_384).map(({ name, text }) => ({
      name,
      send: send(
        'POST',
        '/api/v1/agent/register',
        { 'content-type': JSON_TYPE },
        JSON.stringify({
          type: 'identity_assertion',
          assertion_type: 'urn:ietf:params:oauth:token-type:id-jag',
          assertion: text,
        }),
      ),
    }));
    expect(await stallsOf(attacks)).toEqual([]);
  });

  test('application/octet-stream', async () => {
    const { body } = await api.send<{ app_id: string }>('POST', app, '{"name":"files"}', {
      'content-type': JSON_TYPE,
      authorization: `Bearer ${developer.token}`,
    });
    const headers = {
      'content-type': 'application/octet-stream',
      authorization: `Bearer ${developer.token}`,
    };
    const upload = (name: string, more: Record<string, string>, content: string) => ({
      name,
      send: send('PUT', `${app}/${body.app_id}/files/a.bin`, { ...headers, ...more }, content),
    });
    const attacks = [
      upload('32 MiB', {}, '\0'.repeat(32 * 1_048_576)),
      upload('nothing', {}, ''),
      ...['sha-256=:AA==:,', 'a', '=', ':', 'a=:,', ',', ' '].map((piece) =>
        upload(`a digest of ${piece}`, { 'content-digest': repeated(piece, LONGEST) }, 'a'),
      ),
      ...['a', '.', '%41', '%EF%B7%BA', '%20', '..%2F'].map((piece) => ({
        name: `a name of ${piece}`,
        send: send('PUT', `${app}/${body.app_id}/files/${repeated(piece, LONGEST)}`, headers, 'a'),
      })),
      ...['a', '.', '1.', '-'].map((piece) => ({
        name: `a version of ${piece}`,
        send: send(
          'PUT',
          `${app}/${body.app_id}/files/a.bin?version=${repeated(piece, LONGEST)}`,
          headers,
          'a',
        ),
      })),
    ];
    expect(await stallsOf(attacks)).toEqual([]);
  });
});

test('the attacks reached the code that they attack', () => {
  expect([...seen].filter((status) => status >= 500 && status !== 503)).toEqual([]);
  for (const status of [200, 201, 303, 400, 401, 404, 422]) expect([...seen]).toContain(status);
});
