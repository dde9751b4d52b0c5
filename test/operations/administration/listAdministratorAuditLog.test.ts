import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { ADMINISTRATOR, sellPlan } from '../../support/billing.ts';
import { SECOND } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditLog } from '../support/tokens.ts';

type Schemas = components['schemas'];

const { api, clock } = await startTestService();

const list = (query = '', token: string | undefined = ADMINISTRATOR.token) =>
  api.call<Schemas['AuditEntryList']>('GET', `/api/v2/admin/audit-log${query}`, undefined, { token });

describe('a search', () => {
  let plan: Schemas['AdminPlan'];
  let all: Schemas['AuditEntry'][];
  let middle: string;

  beforeAll(async () => {
    await newDeveloper(api);
    plan = await sellPlan(api);
    clock.advance(10 * SECOND);
    middle = clock.now().toISOString();
    const path = `/api/v2/admin/plans/${plan.plan_id}`;
    await api.call('PATCH', path, { price: 29 }, ADMINISTRATOR);
    await api.call('DELETE', path, undefined, ADMINISTRATOR);
    all = (await list()).body.data;
  });

  test('has what the administrator did and nothing of a developer, newest first', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body.next_cursor).toBeNull();
    expect(body.data.map(({ action }) => action)).toEqual(['plan.archived', 'plan.updated', 'plan.created']);
    expect(body.data[1]).toEqual({
      audit_id: expect.stringMatching(/^aud_[0-9a-z]{26}$/),
      app_id: null,
      actor: { kind: 'administrator', id: 'administrator', address: '127.0.0.1' },
      action: 'plan.updated',
      target: plan.plan_id,
      data: expect.objectContaining({ price_minor: 2_900 }),
      created_at: middle,
    });
  });

  test.each<[string, () => string, number[]]>([
    ['app_id', () => 'app_id=app_absent', []],
    ['actor_id', () => 'actor_id=administrator', [0, 1, 2]],
    ['an unknown actor_id', () => 'actor_id=agt_absent', []],
    ['action', () => 'action=plan.created', [2]],
    ['target', () => `target=${plan.plan_id}`, [0, 1, 2]],
    ['another target', () => 'target=plan_absent', []],
    ['address', () => 'address=::FFFF:127.0.0.1', [0, 1, 2]],
    ['another address', () => 'address=203.0.113.9', []],
    ['since', () => `since=${middle}`, [0, 1]],
    ['until', () => `until=${middle}`, [2]],
    ['several at once', () => `action=plan.archived&since=${middle}`, [0]],
  ])('by %s', async (_what, query, places) => {
    const { status, body } = await list(`?${query()}`);
    expect(status).toBe(200);
    expect(body.data).toEqual(places.map((place) => all[place]));
  });

  test('is paginated', async () => {
    const seen: Schemas['AuditEntry'][] = [];
    let cursor = '';
    do {
      const { body } = await list(`?limit=2${cursor}`);
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data);
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(all);
  });

  test('of a developer finds nothing of it', async () => {
    const developer = await newDeveloper(api);
    const actions = (await auditLog(api, developer)).map(({ action }) => action);
    expect(actions).toEqual(['developer.registered']);
  });

  test.each([
    ['limit=0', 'query/limit'],
    ['cursor=nonsense', 'query/cursor'],
    ['since=yesterday', 'query/since'],
    ['until=2026-13-01T00:00:00Z', 'query/until'],
    ['target=', 'query/target'],
    ['unknown=x', 'query/unknown'],
  ])('%s is refused', async (query, pointer) => {
    expectFaults(await list(`?${query}`), pointer);
  });
});

test('UNAUTHORIZED for every other caller', async () => {
  const { token } = await newDeveloper(api);
  for (const other of [token, 'nonsense', '']) expectError(await list('', other), 401, 'UNAUTHORIZED');
});
