import { expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const { database, services } = await startTestService();

test('requests with a key leave connections to others, and too many are refused', async () => {
  const gate = Promise.withResolvers<void>();
  const work = async () => {
    await gate.promise;
    return { status: 200, mediaType: 'application/json', text: '{}' };
  };
  const asked = Array.from({ length: 200 }, (_, n) =>
    services.idempotency.once('somebody', `key ${n}`, [], work),
  );
  const settled = Promise.allSettled(asked);
  await database.knex.raw('select 1');
  gate.resolve();
  const states = (await settled).map((each) =>
    each.status === 'fulfilled' ? each.value.answer.status : (each.reason as { code: string }).code,
  );
  const answered = states.filter((state) => state === 200);
  expect(answered.length).toBeGreaterThanOrEqual(100);
  expect(answered.length).toBeLessThan(200);
  expect(new Set(states)).toEqual(new Set([200, 'SERVICE_UNAVAILABLE']));
});
