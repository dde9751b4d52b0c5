import { expect, test } from 'vitest';
import { newDeveloper } from '../support/fixtures.ts';
import { Browser, newClient, REDIRECT_URI } from '../support/oauth.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService({ RATE_LIMIT: '3/60' });
const developer = await newDeveloper(service.api);
const registered = await newClient(service.api, developer);

const authorize = (clientId = registered.client_id) => {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  return new Browser(service.baseUrl).open(`/oauth/authorize?${query}`);
};

test('the sign-in page shares its limits with the API', async () => {
  const browser = new Browser(service.baseUrl);
  const query =
    `client_id=${registered.client_id}&response_type=code&code_challenge=${'x'.repeat(43)}` +
    '&code_challenge_method=S256';
  const page = await browser.open(`/oauth/authorize?${query}`);
  const statuses = [];
  // Different accounts, so that none of them has many failures. The registration of the developer counts, too.
  for (let each = 0; each < 3; each += 1) {
    const email = `unknown-${each}@example.com`;
    const response = await browser.send(page, { action: 'sign-in', email, password: 'wrong password' });
    statuses.push(response.status);
  }
  expect(statuses).toEqual([401, 401, 429]);
  const login = { email: developer.email, password: developer.password };
  expect((await service.api.post('/api/v2/dev/login', login)).status).toBe(429);
});

test('an address can open a limited number of pages in a minute, then gets an error page', async () => {
  const responses = [await authorize(), await authorize(), await authorize()];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(responses[2]!.html).toContain('temporarily_unavailable');
  expect(responses[2]!.headers.get('retry-after')).toMatch(/^\d+$/);
});

test('the same limit applies to device pages', async () => {
  const responses = [];
  for (let each = 0; each < 4; each += 1)
    responses.push(await new Browser(service.baseUrl).open('/oauth/device'));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(responses[3]!.html).toContain('temporarily_unavailable');
});

test('the same limit applies to fetched client documents', async () => {
  const statuses = [];
  for (let each = 0; each < 4; each += 1)
    statuses.push((await authorize(`https://127.0.0.1/${each}`)).status);
  expect(statuses[0]).toBe(400);
  expect(statuses.at(-1)).toBe(429);
});
