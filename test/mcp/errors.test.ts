import { describe, expect, test } from 'vitest';
import { newApp, newDeveloper, newHwid } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { connectAgent, send } from './client.ts';

const service = await startTestService();
const { api, baseUrl } = service;
const limited = await startTestService({ DATABASE_URL: service.databaseUrl, RATE_LIMIT: '3/60' });
const developer = await newDeveloper(api);
const { app_id } = await newApp(api, developer);
const agent = await connectAgent(baseUrl, developer.token);
const wish = { app_id, amount: 1, duration_days: 30, tier: 'Pro' };

/** The number of licenses. */
async function count(): Promise<number> {
  const { content } = await agent.call('list_licenses', { app_id, limit: 100 });
  return (content!['data'] as []).length;
}

describe('a failed call explains what to do', () => {
  test('in words, with the names of arguments', async () => {
    const { isError, text, content } = await agent.call('generate_licenses', {
      ...wish,
      amount: 0,
      tier: 'x'.repeat(65),
      idempotency_key: 'no key',
    });
    expect(isError).toBe(true);
    expect(content).toBeUndefined();
    const [first, ...lines] = text.split('\n');
    expect(first).toMatch(/^\S.*: 3 members of the request are not valid\.$/);
    expect(lines.slice(0, 3).sort()).toEqual([
      '- amount must be >= 1',
      '- idempotency_key does not match the required pattern',
      '- tier must NOT have more than 64 characters',
    ]);
    expect(lines[3]).toMatch(/^What to do: [A-Z].*\.$/);
    expect(lines[4]).toBe(
      `Code: VALIDATION_FAILED (400). More: ${baseUrl}/errors/validation-failed. ` +
        `Request: ${agent.last().headers.get('x-request-id')}`,
    );
    expect(lines).toHaveLength(5);
    expect(text).not.toMatch(/\.ts\b|node_modules|\bat /);
  });

  test.each<[string, string, Record<string, unknown>, string[]]>([
    ['an argument that is missing', 'get_user', { app_id }, ['user_id is required']],
    [
      'a member that is missing',
      'generate_licenses',
      { app_id, amount: 1 },
      ['tier is required', 'duration_days is required'],
    ],
    [
      'unknown arguments',
      'get_account',
      { verbose: true, constructor: 1 },
      ['verbose is not an argument of this tool', 'constructor is not an argument of this tool'],
    ],
    [
      'values that no path can contain',
      'get_user',
      { app_id: ['a'], user_id: '' },
      ['app_id must be text or a number', 'user_id must not be empty'],
    ],
    ['a word of another path', 'get_user', { app_id, user_id: 'export' }, ['user_id must be an identifier']],
    ['null in a query', 'list_applications', { cursor: null }, ['cursor must be text or a number']],
    ['a page that is too large', 'list_applications', { limit: 101 }, ['limit must be <= 100']],
    ['not a number', 'list_applications', { limit: '1e1' }, ['limit must be integer']],
  ])('%s', async (_, name, args, faults) => {
    const { isError, text } = await agent.call(name, args);
    expect(isError).toBe(true);
    const listed = text.split('\n').filter((line) => line.startsWith('- '));
    expect(listed).toEqual(faults.map((fault) => `- ${fault}`));
  });

  test.each([5_000, 50_000])('with %d levels in a member', async (depth) => {
    const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const message =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"generate_licenses",' +
      `"arguments":{"app_id":"${app_id}","amount":1,"duration_days":1,"tier":${nested}}}}`;
    const response = await send(baseUrl, message, { authorization: `Bearer ${developer.token}` });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ result: { isError: true } });
  });

  test('half a character is refused, not replaced', async () => {
    const params = { name: 'get_user', arguments: { app_id: '\ud800', user_id: 'x' } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const response = await send(baseUrl, message, { authorization: `Bearer ${developer.token}` });
    expect(response.status).toBeLessThan(500);
    expect(await response.text()).not.toContain('"structuredContent"');
  });

  test.each([
    ['get_user', { user_id: 'export' }],
    ['get_user', { user_id: 'import' }],
    ['find_users', { app_id: 'a/b' }],
    ['find_users', { app_id: '..' }],
    ['find_users', { app_id: '%2e%2e' }],
    ['find_users', { app_id: 'x?limit=1#' }],
  ])('no identifier leads to another operation: %s %j', async (name, args) => {
    const { isError, text } = await agent.call(name, { app_id, ...args });
    expect(isError).toBe(true);
    expect(text).toMatch(/VALIDATION_FAILED|_NOT_FOUND/);
  });

  test('with the time to retry', async () => {
    const other = await connectAgent(limited.baseUrl, developer.token);
    const login = () =>
      other.call('sandbox_login', { app_id: 'sandbox', username: 'agent', hwid: newHwid() });
    for (let count = 0; count < 3; count += 1) expect((await login()).isError).toBe(false);
    expect(other.last().headers.get('ratelimit-remaining')).toBe('0');
    const { isError, text } = await login();
    expect(isError).toBe(true);
    expect(text).toMatch(/^Call again in \d+ s\.$/m);
    expect(text).toContain('TOO_MANY_REQUESTS (429)');
    expect(other.last().status).toBe(200);
    expect(other.last().headers.get('ratelimit-limit')).toBe('3');
  });
});

describe('a key makes a call repeatable', () => {
  test.each<[object]>([[{ toString: 1 }], [{}], [[]], [['a']]])('%j is not valid', async (key) => {
    const { isError, text } = await agent.call('generate_licenses', wish, { idempotency_key: key });
    expect({ isError, text }).toMatchObject({
      isError: true,
      text: expect.stringContaining('- idempotency_key must be text or a number'),
    });
  });

  test.each([
    ['as an argument', (key: string) => [{ ...wish, idempotency_key: key }] as const],
    ['as metadata of the client', (key: string) => [wish, { idempotency_key: key }] as const],
  ])('%s', async (form, paramsOf) => {
    const before = await count();
    const key = `key-${form.replaceAll(' ', '-')}`;
    const [args, meta] = paramsOf(key);
    const first = await agent.call('generate_licenses', args, meta);
    expect(agent.last().headers.get('idempotency-replayed')).toBeNull();
    // In another order, they are the same arguments.
    const turned = Object.fromEntries(Object.entries(args).reverse());
    const second = await agent.call('generate_licenses', turned, meta);
    expect(agent.last().headers.get('idempotency-replayed')).toBe('true');
    expect(first.isError).toBe(false);
    expect(second).toEqual(first);
    expect(await count()).toBe(before + 1);
    const { isError, text } = await agent.call('generate_licenses', { ...args, amount: 2 }, meta);
    expect(isError).toBe(true);
    expect(text).toContain('IDEMPOTENCY_KEY_REUSED');
  });

  test('for two concurrent calls', async () => {
    const before = await count();
    const other = await connectAgent(baseUrl, developer.token);
    const results = await Promise.all(
      [agent, other].map((each) => each.call('generate_licenses', { ...wish, idempotency_key: 'at-once' })),
    );
    expect(await count()).toBe(before + 1);
    expect(results.some(({ isError }) => !isError)).toBe(true);
    for (const { isError, text } of results) if (isError) expect(text).toContain('IDEMPOTENCY_KEY_IN_USE');
  });
});

test('concurrent calls on one connection get their own results', async () => {
  const amounts = [1, 2, 3, 4, 5, 6, 7, 8];
  const results = await Promise.all(
    amounts.map((amount) => agent.call('generate_licenses', { ...wish, amount })),
  );
  expect(results.map(({ content }) => (content!['licenses'] as []).length)).toEqual(amounts);
});
