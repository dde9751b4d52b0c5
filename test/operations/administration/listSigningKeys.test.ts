import { expect, test } from 'vitest';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { startTestService } from '../../support/service.ts';
import { publishedKeyIds } from '../../support/signing-keys.ts';

const { api, clock } = await startTestService();
const list = () =>
  api.call<{ data: object[] }>('GET', '/api/v2/admin/signing-keys', undefined, ADMINISTRATOR);

test('lists the published keys; the one for ID tokens is created on first use', async () => {
  const key = {
    key_id: expect.stringMatching(/^[\w-]{11}$/),
    alg: 'ES256',
    state: 'signing',
    created_at: expect.any(String),
    active_from: expect.any(String),
  };
  expect((await list()).body.data).toEqual([key]);
  clock.advance(1000);
  expect((await publishedKeyIds(api)).length).toBe(2);
  const made = clock.now().toISOString();
  expect((await list()).body.data).toEqual([
    { ...key, alg: 'RS256', created_at: made, active_from: made },
    key,
  ]);
});
