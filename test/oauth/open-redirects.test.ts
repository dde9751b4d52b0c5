import { beforeAll, describe, expect, test } from 'vitest';
import { connectTo } from '../support/database.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { authorize, Browser, consent, newClient, REDIRECT_URI, type Opened } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let stranger: Developer;
let victim: Developer;
beforeAll(async () => {
  service = await startTestService();
  [stranger, victim] = [await newDeveloper(service.api), await newDeveloper(service.api)];
});

const VALID = {
  response_type: 'code',
  redirect_uri: REDIRECT_URI,
  scope: 'openid email read',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
};

/** Registers a client without an account. */
async function registerItself(metadata: object = {}): Promise<{ client_id: string }> {
  const response = await fetch(`${service.baseUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [REDIRECT_URI],
      post_logout_redirect_uris: [REDIRECT_URI],
      ...metadata,
    }),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as { client_id: string };
}

const authorizePath = (parameters: Record<string, string>) =>
  `/oauth/authorize?${new URLSearchParams(parameters)}`;

/** Faults of requests whose errors are sent to the client. */
const FAULTS: readonly (readonly [string, Record<string, string>])[] = [
  ['prompt=none', { prompt: 'none' }],
  ['a response type that does not exist', { response_type: 'token' }],
  ['no PKCE', { code_challenge: '' }],
  ['a plain PKCE challenge', { code_challenge_method: 'plain' }],
  ['a prompt that does not exist', { prompt: 'nothing' }],
  ['a foreign resource', { resource: 'https://elsewhere.example/' }],
  ['a request object', { request: 'x.y.z' }],
  ['a pushed request', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
  ['a max_age that is not a number', { max_age: '-1' }],
  ['an invalid ID token', { id_token_hint: 'x' }],
  ['a registration', { registration: '{}' }],
];
const MODES = ['query', 'fragment', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt', 'web_message'];

/** Expects a page without automatic navigation, whose links name their targets. */
function expectPage({ url, status, html, headers }: Opened): void {
  expect(url.origin, url.href).toBe(service.baseUrl);
  expect(status).toBe(400);
  expect(headers.get('content-type')).toMatch(/^text\/html/);
  expect(headers.get('location')).toBeNull();
  expect(headers.get('refresh')).toBeNull();
  expect(html).not.toMatch(/<script|http-equiv/i);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
}

describe.each([
  ['that registered itself', () => registerItself()],
  [
    'of some developer',
    () => newClient(service.api, stranger, { post_logout_redirect_uris: [REDIRECT_URI] }),
  ],
])('an error of a client %s', (_what, register) => {
  let client_id: string;
  beforeAll(async () => ({ client_id } = await register()));

  test.each(FAULTS)('does not redirect before a sign-in: %s', async (_fault, wrong) => {
    const parameters = { ...VALID, client_id, state: 'a state', ...wrong };
    for (const response_mode of [undefined, ...MODES]) {
      const path = authorizePath({ ...parameters, ...(response_mode && { response_mode }) });
      expectPage(await new Browser(service.baseUrl).open(path));
    }
  });

  test.each(FAULTS)(
    'does not redirect a signed-in browser that has not authorized it: %s',
    async (_fault, wrong) => {
      const other = await newClient(service.api, victim);
      const { browser } = await authorize(service.baseUrl, victim, other);
      for (const response_mode of ['query', 'form_post']) {
        expectPage(await browser.open(authorizePath({ ...VALID, client_id, response_mode, ...wrong })));
      }
    },
  );

  test('does not redirect on Cancel before the sign-in, except by a link that names its target', async () => {
    const browser = new Browser(service.baseUrl);
    const consent = await browser.open(authorizePath({ ...VALID, client_id, state: 'a state' }));
    const page = await browser.send(consent, { action: 'deny' });
    expectPage(page);
    const href = /<a [^>]*href="([^"]*)"/.exec(page.html)![1]!.replaceAll('&amp;', '&');
    const link = new URL(href);
    expect(link.origin + link.pathname).toBe(REDIRECT_URI);
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a state',
      iss: service.baseUrl,
    });
    expect(page.html).toContain('Continue to client.example');
  });

  test('a form response waits for a click, too', async () => {
    const parameters = { ...VALID, client_id, state: '"a state', response_mode: 'form_post', prompt: 'none' };
    const page = await new Browser(service.baseUrl).open(authorizePath(parameters));
    expectPage(page);
    expect(page.html).toContain(`<form method="post" action="${REDIRECT_URI}"`);
    expect(page.html).toContain('name="error" value="login_required"');
    expect(page.html).toContain('name="state" value="&quot;a state"');
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://client.example;",
    );
  });

  test('a refusal on the consent page goes to the client on the page', async () => {
    const browser = new Browser(service.baseUrl);
    const signIn = await browser.open(authorizePath({ ...VALID, client_id }));
    const consent = await browser.send(signIn, { ...victim, action: 'sign-in' });
    expect(consent.html).toContain('<strong>client.example</strong>');
    const { url } = await browser.send(consent, { action: 'deny' });
    expect(url.searchParams.get('error')).toBe('access_denied');
  });

  test('a client that was authorized in this browser gets its errors at once', async () => {
    const browser = new Browser(service.baseUrl);
    await consent(browser, await browser.open(authorizePath({ ...VALID, client_id })), victim);
    const { url } = await browser.open(authorizePath({ ...VALID, client_id, max_age: '-1' }));
    expect(url.searchParams.get('error')).toBe('invalid_request');
  });

  test('a sign-out leads there only by a link if no user is signed in', async () => {
    const query = new URLSearchParams({ client_id, post_logout_redirect_uri: REDIRECT_URI, state: 's' });
    const { url, status, html } = await new Browser(service.baseUrl).open(`/oauth/logout?${query}`);
    expect([url.origin, status]).toEqual([service.baseUrl, 200]);
    expect(html).toContain('Continue to client.example');
    expect(html).toContain(`href="${REDIRECT_URI}?state=s"`);
    expect(html).not.toContain('<script');
  });

  test('and otherwise after a click on a page that names it', async () => {
    const { browser } = await authorize(service.baseUrl, victim, await newClient(service.api, victim));
    const query = new URLSearchParams({ client_id, post_logout_redirect_uri: REDIRECT_URI });
    const consent = await browser.open(`/oauth/logout?${query}`);
    expect(consent.html).toContain('takes you to <strong>client.example</strong>');
    expect((await browser.send(consent, { logout: 'yes' })).url.href).toBe(REDIRECT_URI);
  });
});

test('a developer gets the errors of their own client at once', async () => {
  const { browser } = await authorize(service.baseUrl, victim, await newClient(service.api, victim));
  const { client_id } = await newClient(service.api, victim);
  const { url } = await browser.open(authorizePath({ ...VALID, client_id, prompt: 'none' }));
  expect(url.searchParams.get('error')).toBe('consent_required');
});

test('a client that the operator trusts gets its errors at once, and is shown without a warning', async () => {
  const { client_id } = await registerItself();
  const trusting = await startTestService({
    DATABASE_URL: service.databaseUrl,
    TRUSTED_CLIENTS: `https://other.example/client.json, ${client_id}`,
  });
  const browser = new Browser(trusting.baseUrl);
  const { url } = await browser.open(authorizePath({ ...VALID, client_id, prompt: 'none' }));
  expect(url.searchParams.get('error')).toBe('login_required');
  const consent = await browser.send(await browser.open(authorizePath({ ...VALID, client_id })), {
    ...victim,
    action: 'sign-in',
  });
  expect(consent.html).toContain('value="allow"');
  expect(consent.html).not.toContain('has not verified this program');
});

describe('a scheme without a period, a wildcard or a delimiter', () => {
  const ADDRESSES = [
    'ms-msdt:/id',
    'intent://scan/',
    'view-source:https://client.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'myapp:/callback',
    'https://a;script-src/cb',
    'https://*/cb',
    'https://*.client.example/cb',
  ];

  test.each(ADDRESSES)('is not registered: %s', async (uri) => {
    for (const application_type of ['native', 'web']) {
      for (const member of ['redirect_uris', 'post_logout_redirect_uris']) {
        const metadata = { redirect_uris: [REDIRECT_URI], application_type, [member]: [uri] };
        const response = await fetch(`${service.baseUrl}/oauth/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(metadata),
        });
        expect(response.status).toBe(400);
        const body = { ...metadata, name: 'A client', grant_types: ['authorization_code'], scopes: ['read'] };
        const created = await service.api.call('POST', '/api/v2/dev/oauth-clients', body, stranger);
        expect(created).toMatchObject({
          status: 400,
          body: { errors: [{ pointer: expect.stringContaining(member) }] },
        });
      }
    }
  });

  test.each(ADDRESSES)('is refused at authorization if it was registered before: %s', async (uri) => {
    const { client_id } = await registerItself({
      application_type: 'native',
      redirect_uris: ['com.example.app:/'],
    });
    const database = await connectTo(service.databaseUrl);
    await database.query(
      `update oauth_clients set metadata = jsonb_set(metadata::jsonb, '{redirect_uris}', $2::jsonb)
       where client_id = $1`,
      [client_id, JSON.stringify([uri])],
    );
    const page = await new Browser(service.baseUrl).open(
      authorizePath({ ...VALID, client_id, redirect_uri: uri }),
    );
    expectPage(page);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self';");
    expect(page.html).not.toContain('<a class');
  });

  test.each(['ms-msdt:/id', 'https://a;script-src/cb', 'myapp:/callback'])(
    'does not prevent changes of a client that has it: %s',
    async (uri) => {
      const { client_id } = await newClient(service.api, stranger, {
        application_type: 'native',
        post_logout_redirect_uris: [REDIRECT_URI],
      });
      const old = { redirect_uris: [uri, REDIRECT_URI], post_logout_redirect_uris: [uri] };
      const database = await connectTo(service.databaseUrl);
      await database.query('update oauth_clients set metadata = metadata || $2::jsonb where client_id = $1', [
        client_id,
        JSON.stringify(old),
      ]);
      const path = `/api/v2/dev/oauth-clients/${client_id}`;
      const edit = (changes: object) => service.api.call('PATCH', path, changes, stranger);
      expect(await edit({ name: 'Renamed' })).toMatchObject({
        status: 200,
        body: { name: 'Renamed', ...old },
      });
      expect(await edit({ scopes: ['read'] })).toMatchObject({ status: 200, body: old });
      // It may stay or be removed, but not be added again.
      const redirect_uris = [REDIRECT_URI, uri, 'https://client.example/other'];
      expect(await edit({ redirect_uris })).toMatchObject({ status: 200, body: { redirect_uris } });
      expect(await edit({ redirect_uris: [REDIRECT_URI] })).toMatchObject({ status: 200 });
      expect(await edit({ redirect_uris: [REDIRECT_URI, uri] })).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/redirect_uris' }] },
      });
      expect(await edit({ post_logout_redirect_uris: [] })).toMatchObject({ status: 200 });
    },
  );
});

describe('the consent page', () => {
  test("warns of developers' clients like of self-registered ones, and shows no text from either", async () => {
    const account = {
      email: 'boss@example.com',
      password: 'a developer password',
      name: 'The operator of this service',
    };
    const { body } = await service.api.post<{ developer_id: string; token: string }>(
      '/api/v2/dev/register',
      account,
    );
    const boss = { token: body.token, developerId: body.developer_id };
    const pages = await Promise.all(
      [
        await registerItself({ client_name: 'A tool' }),
        await newClient(service.api, boss, { name: 'A tool' }),
      ].map(async ({ client_id }) => {
        const browser = new Browser(service.baseUrl);
        const signIn = await browser.open(authorizePath({ ...VALID, client_id }));
        return (await browser.send(signIn, { ...victim, action: 'sign-in' })).html;
      }),
    );
    for (const html of pages) {
      expect(html).toContain('has not verified this program');
      expect(html).toContain('<dt>Leads to</dt><dd><strong>client.example</strong></dd>');
    }
    expect(pages[0]).toContain('itself, without an account');
    expect(pages[1]).toContain(`the account ${boss.developerId}`);
    expect(pages[1]).not.toContain(`>${account.name}<`);
  });
});
