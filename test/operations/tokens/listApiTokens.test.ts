import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { updateLastUses } from '../../../src/accounts/api-tokens/api-token-store.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

const { api, clock, database, services } = await startTestService();

const list = (token: string, query = '') =>
  api.call<components['schemas']['ApiTokenList']>('GET', `/api/v2/dev/tokens${query}`, undefined, { token });

test('shows what was created, newest first, without the tokens', async () => {
  const developer = await newDeveloper(api);
  const made = [
    await newApiToken(api, developer, ['read'], { name: 'first' }),
    await newApiToken(api, developer, ['write', 'read'], { name: 'second' }),
  ];
  const { status, body } = await list(developer.token);
  expect(status).toBe(200);
  const common = { expires_at: null, created_at: clock.now().toISOString(), last_used_at: null };
  expect(body).toEqual({
    status: 'success',
    data: [
      { token_id: made[1]!.token_id, name: 'second', scopes: ['write', 'read'], ...common },
      { token_id: made[0]!.token_id, name: 'first', scopes: ['read'], ...common },
    ],
    next_cursor: null,
  });
});

test('lists all of them in pages', async () => {
  const developer = await newDeveloper(api);
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) made.unshift((await newApiToken(api, developer, ['read'])).token_id);
  const seen: string[] = [];
  let cursor = '';
  for (let pages = 1; ; pages += 1) {
    const { body } = await list(developer.token, `?limit=2${cursor}`);
    seen.push(...body.data.map(({ token_id }) => token_id));
    if (body.next_cursor === null) {
      expect(pages).toBe(3);
      break;
    }
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(seen).toEqual(made);
});

test('shows no tokens of another developer or a reseller', async () => {
  const [developer, stranger] = [await newDeveloper(api), await newDeveloper(api)];
  await newApiToken(api, developer, ['read']);
  expect((await list(stranger.token)).body.data).toEqual([]);
});

test('expired tokens are shown for 30 days, revoked ones are not', async () => {
  const developer = await newDeveloper(api);
  const expires_at = new Date(clock.now().getTime() + DAY / 2).toISOString();
  const ending = await newApiToken(api, developer, ['read'], { expires_at });
  const revoked = await newApiToken(api, developer, ['read']);
  const reader = await newApiToken(api, developer, ['auth:dev']);
  await api.call('DELETE', `/api/v2/dev/tokens/${revoked.token_id}`, undefined, developer);
  const ids = async () => (await list(reader.token)).body.data.map(({ token_id }) => token_id);
  clock.advance(30 * DAY);
  await services.apiTokens.clearExpired();
  expect(await ids()).toEqual([reader.token_id, ending.token_id]);
  clock.advance(DAY);
  await services.apiTokens.clearExpired();
  expect(await ids()).toEqual([reader.token_id]);
});

test('shows when a token was last used', async () => {
  const developer = await newDeveloper(api);
  const { token } = await newApiToken(api, developer, ['read']);
  const unused = await newApiToken(api, developer, ['read']);
  const use = () => api.call('GET', '/api/v2/dev/me', undefined, { token });
  const lastUses = async () => {
    await services.lastUses.writeAll();
    return (await list(developer.token)).body.data.map(({ last_used_at }) => last_used_at);
  };
  clock.advance(SECOND);
  const first = clock.now().toISOString();
  await use();
  expect(await lastUses()).toEqual([null, first]);
  clock.advance(30 * SECOND);
  await use();
  const second = clock.now().toISOString();
  expect(await lastUses()).toEqual([null, second]);
  await api.call('DELETE', `/api/v2/dev/tokens/${unused.token_id}`, undefined, developer);
  expect(await lastUses()).toEqual([second]);
});

test('an older use does not replace a newer one, and a locked row is left out', async () => {
  const developer = await newDeveloper(api);
  const { token_id } = await newApiToken(api, developer, ['read']);
  const at = (seconds: number) => new Date(clock.now().getTime() + seconds * SECOND);
  const { knex } = database;
  await updateLastUses(knex, new Map([[token_id, at(10)]]));
  await updateLastUses(knex, new Map([[token_id, at(5)]]));
  await knex.transaction(async (trx) => {
    await trx('api_tokens').where({ token_id }).forUpdate();
    await updateLastUses(knex, new Map([[token_id, at(20)]]));
  });
  const [shown] = (await list(developer.token)).body.data;
  expect(shown!.last_used_at).toBe(at(10).toISOString());
});

test('VALIDATION_FAILED and INSUFFICIENT_SCOPE', async () => {
  const developer = await newDeveloper(api);
  expectFaults(await list(developer.token, '?limit=0'), 'query/limit');
  expectFaults(await list(developer.token, '?cursor=nonsense'), 'query/cursor');
  const { token } = await newApiToken(api, developer, ['read', 'write']);
  expectError(await list(token), 403, 'INSUFFICIENT_SCOPE');
});
