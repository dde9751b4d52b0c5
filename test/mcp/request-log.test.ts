import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';
import { MASTER_KEY } from '../support/service.ts';
import { connectAgent, LIST, send } from './client.ts';

const service = await spawnService(
  { DATABASE_URL: await createTestDatabase(), MASTER_KEY, LOG_LEVEL: 'debug' },
  afterAll,
);
const { api } = service;

/** The log line of the response to a request. */
async function lineOf({ headers }: Response): Promise<Record<string, unknown>> {
  const find = () =>
    service
      .output()
      .stderr.split('\n')
      .filter((line) => line.includes(headers.get('x-request-id')!) && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await expect.poll(() => find().length).toBe(1);
  return find()[0]!;
}

test('a call is logged as its operation, without secrets', async () => {
  const developer = await newDeveloper(api);
  const { app_id } = await newApp(api, developer);
  const agent = await connectAgent(api.baseUrl, developer.token);
  const { content } = await agent.call('generate_licenses', {
    app_id,
    amount: 1,
    duration_days: 30,
    tier: 'Pro',
  });
  const [{ license_key }] = content!['licenses'] as [{ license_key: string }];
  expect(await lineOf(agent.last())).toMatchObject({
    msg: 'response sent',
    method: 'POST',
    path: '/mcp',
    operation: 'createLicenses',
    status: 201,
    request: { amount: 1, duration_days: 30, tier: 'Pro' },
    response: { licenses: [{ license_key: '[redacted]', tier: 'Pro' }] },
  });
  await agent.call('get_user', { app_id, user_id: 'usr_none' });
  expect(await lineOf(agent.last())).toMatchObject({
    operation: 'getUser',
    status: 404,
    code: 'USER_NOT_FOUND',
  });
  const refused = await lineOf(await send(api.baseUrl, LIST));
  expect(refused).toMatchObject({ path: '/mcp', status: 401, code: 'UNAUTHORIZED' });
  expect(refused).not.toHaveProperty('operation');
  const { stderr } = service.output();
  expect(stderr).not.toContain(license_key);
  expect(stderr).not.toContain(developer.token);
});
