import { expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const { database, services } = await startTestService();

/** How 400 requests with keys end that come at once, while none of them can do its work. */
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
  ['of one tenant: 3 at work and 100 waiting', () => 'one', 103, 'TOO_MANY_REQUESTS'],
  ['of many tenants: 5 at work and 300 waiting', (n: number) => `tenant ${n}`, 305, 'SERVICE_UNAVAILABLE'],
])(
  'requests with a key leave connections to others, and too many are refused: %s',
  async (_what, ownerOf, taken, code) => {
    const ends = await endsOf(ownerOf);
    expect(ends.filter((end) => end === 200)).toHaveLength(taken);
    expect(new Set(ends)).toEqual(new Set([200, code]));
  },
);
