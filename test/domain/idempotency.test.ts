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
