import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../conformance/support/certificate.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { newDeveloper } from '../support/fixtures.ts';
import { authorize, Browser, REDIRECT_URI } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let host: string;
let documents: Record<string, (url: string) => object | string>;
let fetched = 0;
beforeAll(async () => {
  const { key, cert } = makeCertificate('127.0.0.1');
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  atFileEnd(() => setDefaultCACertificates(before));
  const server = createServer({ key, cert }, (request, response) => {
    fetched += 1;
    const document = documents[request.url!]?.(`https://${host}${request.url}`);
    response.writeHead(document ? 200 : 404, {
      'content-type': 'application/json',
      'cache-control': 'max-age=600',
    });
    response.end(typeof document === 'string' ? document : JSON.stringify(document ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const usual = (client_id: string) => ({
    client_id,
    client_name: 'A web editor',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  });
  documents = {
    '/client.json': usual,
    '/machine.json': (url) => ({ ...usual(url), grant_types: ['client_credentials'], response_types: [] }),
    '/other.json': (url) => ({ ...usual(url), client_id: `${url}x` }),
    '/twice.json': (url) => JSON.stringify(usual(url)).replace('{', '{"client_id":"https://a.example",'),
    '/marked.json': (url) => `\ufeff${JSON.stringify(usual(url))}`,
    '/proto.json': (url) => JSON.stringify(usual(url)).replace('{', '{"__proto__":{},'),
    '/long.json': (url) => ({ ...usual(url), padding: 'x'.repeat(20_000) }),
  };
  service = await startTestService({ CLIENT_ID_NETWORKS: '127.0.0.1/32' });
});

test('a client with a metadata document at its URL can act like others', async () => {
  const developer = await newDeveloper(service.api);
  const client_id = `https://${host}/client.json`;
  const { redeem, config } = await authorize(service.baseUrl, developer, { client_id });
  const { access_token, refresh_token } = await redeem();
  expect(refresh_token).toBeDefined();
  expect(config.clientMetadata().client_id).toBe(client_id);
  const { status } = await service.api.call('GET', '/api/v2/dev/me', undefined, { token: access_token });
  expect(status).toBe(200);
  expect(fetched).toBe(1);
  const { body } = await service.api.call('GET', '/api/v2/dev/authorizations', undefined, developer);
  expect(body).toMatchObject({ data: [{ client_id, client_name: host }] });
});

test('its page names the host of the document', async () => {
  const query = new URLSearchParams({
    client_id: `https://${host}/client.json`,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  const developer = await newDeveloper(service.api);
  const browser = new Browser(service.baseUrl);
  const consent = await browser.send(await browser.open(`/oauth/authorize?${query}`), {
    ...developer,
    action: 'sign-in',
  });
  expect(consent.html).toContain('A web editor');
  expect(consent.html).toContain(host);
});

test.each([
  '/machine.json',
  '/other.json',
  '/twice.json',
  '/marked.json',
  '/proto.json',
  '/long.json',
  '/absent.json',
])('%s is not a client', async (path) => {
  const response = await fetch(`${service.baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: `https://${host}${path}` }),
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: expect.stringMatching(/^invalid_client/) });
});

test('the allowed networks of webhooks and issuers do not allow documents', async () => {
  const networks = { WEBHOOK_NETWORKS: '127.0.0.1/32', AGENT_ISSUER_NETWORKS: '127.0.0.1/32' };
  const { baseUrl } = await startTestService(networks);
  const before = fetched;
  const query = new URLSearchParams({
    client_id: `https://${host}/client.json`,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  const response = await fetch(`${baseUrl}/oauth/authorize?${query}`, { redirect: 'manual' });
  expect(response.status).toBe(400);
  expect(fetched).toBe(before);
});
