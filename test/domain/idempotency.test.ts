import { expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const { database, services } = await startTestService();

/** The results of 400 concurrent requests with keys, while none of them can proceed. */
async function endsOf(ownerOf: (n: number) => string): Promise<unknown[]> {
  const gate = Promise.withResolvers<void>();
  const work = async () => {
    await gate.promise;
    return { status: 200, mediaType: 'application/json', text: '{}' };
  };
  const claims = Array.from({ length: 400 }, (_, n) =>
    services.idempotency.once(ownerOf(n), `key ${n}`, [], work),
  );
  const settled = Promise.allSettled(claims);
  await database.knex.raw('select 1');
  gate.resolve();
  return (await settled).map((each) =>
    each.status === 'fulfilled' ? each.value.response.status : (each.reason as { code: string }).code,
  );
}

test.each([
  ['of one tenant: 3 running and 100 waiting', () => 'one', 103, 'TOO_MANY_REQUESTS'],
  ['of many tenants: 5 running and 300 waiting', (n: number) => `tenant ${n}`, 305, 'SERVICE_UNAVAILABLE'],
])(
  'requests with a key leave connections to others, and too many are refused: %s',
  async (_what, ownerOf, taken, code) => {
    const ends = await endsOf(ownerOf);
    expect(ends.filter((end) => end === 200)).toHaveLength(taken);
    expect(new Set(ends)).toEqual(new Set([200, code]));
  },
);

test.each([
  ['of any length', 'a'.repeat(300_000)],
  ['with characters that JSON escapes', '"\\\n\u0000\u2028'.repeat(40_000)],
  ['with pairs of surrogates at every place', `a${'\u{1f511}'.repeat(100_000)}`],
])('a response is repeated as it was: %s', async (what, text) => {
  const response = { status: 201, mediaType: 'text/csv', text };
  const once = () => services.idempotency.once('owner', what, [], async () => response);
  expect(await once()).toEqual({ response, replayed: false });
  expect(await once()).toEqual({ response, replayed: true });
});
