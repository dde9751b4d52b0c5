import { beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { authorize, newClient, REDIRECT_URI } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
/** Two nodes with one database and one issuer. */
let nodes: readonly [string, string];
let developer: Developer;
beforeAll(async () => {
  service = await startTestService();
  const port = String(await freePort());
  const { databaseUrl: DATABASE_URL, baseUrl: BASE_URL } = service;
  await startTestService({ DATABASE_URL, BASE_URL, PORT: port });
  nodes = [service.baseUrl, `http://127.0.0.1:${port}`];
  developer = await newDeveloper(service.api);
});

const me = async (node: string, token: string) =>
  (await new Api(node).call('GET', '/api/v2/dev/me', undefined, { token })).status;

interface JsonResponse {
  readonly status: number;
  readonly body: { readonly access_token: string; readonly refresh_token: string; readonly error?: string };
}

async function post(
  node: string,
  path: string,
  registered: Registered,
  form: Record<string, string>,
): Promise<JsonResponse> {
  const response = await fetch(`${node}${path}`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${registered.client_id}:${registered.client_secret}`)}` },
    body: new URLSearchParams(form),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as JsonResponse['body'] };
}

type Registered = Awaited<ReturnType<typeof newClient>>;

async function granted() {
  const registered = await newClient(service.api, developer);
  const { url, verifier } = await authorize(service.baseUrl, developer, registered);
  const code = {
    grant_type: 'authorization_code',
    code: url.searchParams.get('code')!,
    redirect_uri: REDIRECT_URI,
    code_verifier: verifier,
  };
  const redeem = (node: string) => post(node, '/oauth/token', registered, code);
  const refresh = (node: string, refresh_token: string) =>
    post(node, '/oauth/token', registered, { grant_type: 'refresh_token', refresh_token });
  return { registered, redeem, refresh };
}

describe('two nodes', () => {
  test('one accepts tokens of the other, and revocations take effect on both at once', async () => {
    const { registered, redeem } = await granted();
    const { body } = await redeem(nodes[1]);
    for (const node of nodes) expect(await me(node, body.access_token)).toBe(200);
    await post(nodes[0], '/oauth/revoke', registered, { token: body.access_token });
    for (const node of nodes) expect(await me(node, body.access_token)).toBe(401);
    const shown = await post(nodes[1], '/oauth/introspect', registered, { token: body.access_token });
    expect(shown.body).toEqual({ active: false });
  });

  test('so does the revocation of an authorization by the developer', async () => {
    const { redeem, refresh } = await granted();
    const { body } = await redeem(nodes[0]);
    const list = await service.api.call<{ data: { authorization_id: string }[] }>(
      'GET',
      '/api/v2/dev/authorizations',
      undefined,
      developer,
    );
    const path = `/api/v2/dev/authorizations/${list.body.data[0]!.authorization_id}`;
    expect((await service.api.call('DELETE', path, undefined, developer)).status).toBe(200);
    expect(await me(nodes[1], body.access_token)).toBe(401);
    expect(await refresh(nodes[1], body.refresh_token)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  test('a code that is redeemed twenty times at once gives tokens once, and they are revoked', async () => {
    const { redeem } = await granted();
    const responses = await Promise.all(Array.from({ length: 20 }, (_, turn) => redeem(nodes[turn % 2]!)));
    const good = responses.filter(({ status }) => status === 200);
    expect(good.length).toBe(1);
    for (const { status, body } of responses) {
      if (status !== 200)
        expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' });
    }
    expect(await me(nodes[0], good[0]!.body.access_token)).toBe(401);
  });

  test('a refresh token that is used concurrently works once at most, and the authorization is revoked', async () => {
    const { redeem, refresh } = await granted();
    const first = (await redeem(nodes[0])).body;
    const responses = await Promise.all(
      [...nodes, ...nodes].map((node) => refresh(node, first.refresh_token)),
    );
    const good = responses.filter(({ status }) => status === 200);
    expect(good.length).toBeLessThanOrEqual(1);
    expect(responses.filter(({ status }) => status === 400).length).toBe(responses.length - good.length);
    expect(await me(nodes[1], first.access_token)).toBe(401);
    for (const { body } of good) {
      expect(await me(nodes[1], body.access_token)).toBe(401);
      expect((await refresh(nodes[0], body.refresh_token)).status).toBe(400);
    }
  });
});

test('codes, tokens and secrets are not stored in clear text', async () => {
  const { registered, redeem } = await granted();
  const { body } = await redeem(nodes[0]);
  const tables = ['oauth_records', 'oauth_clients', 'access_tokens', 'audit_log', 'signing_keys'];
  const rows = await Promise.all(tables.map((table) => service.database.knex(table).select('*')));
  const text = rows
    .flat()
    .flatMap((row: object) => Object.values(row))
    .map((value: unknown) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value)))
    .join('\n');
  expect(text).toContain(registered.client_id);
  for (const secret of [registered.client_secret!, body.access_token, body.refresh_token, developer.email]) {
    expect(text).not.toContain(secret);
  }
});
