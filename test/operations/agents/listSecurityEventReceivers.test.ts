import { describe, expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { newReceiver, RECEIVERS, type Schemas } from '../../webhooks/support/security-events.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

const { api } = await startTestService();
const list = ({ token }: { token: string }, query = '') =>
  api.call<Schemas['SecurityEventReceiverList']>('GET', RECEIVERS + query, undefined, { token });

describe('pages', async () => {
  const developer = await newDeveloper(api);
  const made: string[] = [];
  for (let count = 0; count < 7; count += 1) {
    made.unshift((await newReceiver(api, developer, `https://example.com/${count}`, 'a secret')).receiver_id);
  }

  test.each([1, 3, 7, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await list(developer, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ receiver_id }) => receiver_id));
      cursor = body.next_cursor;
    }
    expect(found).toEqual(made);
  });

  test('hold no secret', async () => {
    expect(JSON.stringify((await list(developer)).body)).not.toMatch(/secret|authorization/);
  });

  test('are empty for another developer', async () => {
    expect((await list(await newDeveloper(api))).body).toMatchObject({ data: [], next_cursor: null });
  });
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  expectFaults(await list(await newDeveloper(api), query), pointer);
});

test('INSUFFICIENT_SCOPE without auth:dev', async () => {
  expectError(
    await list(await newApiToken(api, await newDeveloper(api), ['read', 'write'])),
    403,
    'INSUFFICIENT_SCOPE',
  );
});
