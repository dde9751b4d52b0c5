import { expect, test } from 'vitest';
import { ADMINISTRATOR, sellPlan } from '../support/billing.ts';
import { startTestService } from '../support/service.ts';

const { api } = await startTestService();

test.each(['a\u202eb', '\u200b', 'Pro\u2060', '\ufeffPro', 'a\nb'])(
  'names and features of plans cannot contain invisible characters: %j',
  async (text) => {
    const terms = { name: 'Pro', price: 19 };
    for (const other of [{ name: text }, { features: [text] }]) {
      const { status, body } = await api.post('/api/v2/admin/plans', { ...terms, ...other }, ADMINISTRATOR);
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'VALIDATION_FAILED' });
    }
    const { plan_id: id } = await sellPlan(api);
    const { status } = await api.call('PATCH', `/api/v2/admin/plans/${id}`, { name: text }, ADMINISTRATOR);
    expect(status).toBe(400);
  },
);

test('an unknown plan is looked up by its identifier', async () => {
  const { status, body } = await api.call('GET', '/api/v2/admin/plans/plan_none', undefined, ADMINISTRATOR);
  expect(status).toBe(404);
  expect(body).toMatchObject({
    code: 'PLAN_NOT_FOUND',
    detail: 'There is no plan with this ID.',
    hint: expect.stringContaining('GET /api/v2/admin/plans'),
  });
});
