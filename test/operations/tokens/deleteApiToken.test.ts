import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const first = await startTestService();
const second = await startTestService({ DATABASE_URL: first.databaseUrl });
const { api } = first;

const revoke = (tokenId: string, { token }: { token: string }, at = api) =>
  at.call('DELETE', `/api/v2/dev/tokens/${tokenId}`, undefined, { token });
const apps = async (token: string, at = api) =>
  (await at.call('GET', '/api/v2/dev/apps', undefined, { token })).status;

test('the token is not valid after the response, on any node', async () => {
  const developer = await newDeveloper(api);
  const { token_id, token } = await newApiToken(api, developer, ['read']);
  expect([await apps(token), await apps(token, second.api)]).toEqual([200, 200]);
  const { status, body } = await revoke(token_id, developer);
  expect({ status, body }).toEqual({
    status: 200,
    body: { status: 'success', message: 'API token revoked.' },
  });
  expect([await apps(token), await apps(token, second.api)]).toEqual([401, 401]);
  expect(await auditLog(api, developer, '&action=api_token.revoked')).toMatchObject([{ target: token_id }]);
});

test('of concurrent requests to two nodes, one revokes it', async () => {
  const developer = await newDeveloper(api);
  const { token_id } = await newApiToken(api, developer, ['read']);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => revoke(token_id, developer, n % 2 === 0 ? api : second.api)),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
  expect(await auditLog(api, developer, '&action=api_token.revoked')).toHaveLength(1);
});

test('a token with auth:dev revokes others and itself', async () => {
  const developer = await newDeveloper(api);
  const [own, other] = [
    await newApiToken(api, developer, ['auth:dev', 'read']),
    await newApiToken(api, developer, ['read']),
  ];
  expect((await revoke(other.token_id, own)).status).toBe(200);
  expect((await revoke(own.token_id, own)).status).toBe(200);
  expect([await apps(own.token), await apps(other.token)]).toEqual([401, 401]);
});

test("TOKEN_NOT_FOUND is the same for another developer's, an absent and a revoked one", async () => {
  const [developer, stranger] = [await newDeveloper(api), await newDeveloper(api)];
  const { token_id, token } = await newApiToken(api, developer, ['read']);
  const foreign = await revoke(token_id, stranger);
  expectError(foreign, 404, 'TOKEN_NOT_FOUND');
  expect(await apps(token)).toBe(200);
  expect(comparable(await revoke('tok_absent', stranger))).toEqual(comparable(foreign));
  await revoke(token_id, developer);
  expect(comparable(await revoke(token_id, developer))).toEqual(comparable(foreign));
});

test('INSUFFICIENT_SCOPE', async () => {
  const developer = await newDeveloper(api);
  const { token_id, token } = await newApiToken(api, developer, ['read', 'write']);
  expectError(await revoke(token_id, { token }), 403, 'INSUFFICIENT_SCOPE');
  expect(await apps(token)).toBe(200);
});
