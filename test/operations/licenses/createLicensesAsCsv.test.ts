import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { licensesOf } from '../support/licenses.ts';

const { api } = await startTestService();
const own = await newApp(api);
const path = `/api/v2/dev/apps/${own.app_id}/licenses`;
const wish = (fields: object = {}) => ({ amount: 1, duration_days: 30, tier: 'Pro', ...fields });
const post = (body: object, headers: Record<string, string> = {}) =>
  api.post<string>(`${path}/csv`, body, { token: own.token, headers });

test('with a header line, and without formulas', async () => {
  const { status, headers, body } = await post(wish({ amount: 2, note: '=HYPERLINK("x")' }));
  expect([status, headers.get('content-type')]).toEqual([201, 'application/octet-stream']);
  expect(headers.get('content-disposition')).toBe('attachment; filename="licenses.csv"');
  const [second, first] = (await licensesOf(api, own).list()).body.data;
  expect(body).toBe(
    `license_key,tier,duration_days,note,redeem_by,license_id
${first!.license_key},Pro,30,"'=HYPERLINK(""x"")",,${first!.license_id}
${second!.license_key},Pro,30,"'=HYPERLINK(""x"")",,${second!.license_id}
`,
  );
});

test.each(['+1', '-1', '@A1', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠A1', "'=1"])(
  '%j does not become a formula',
  async (note) => {
    const { body } = await post(wish({ note }));
    expect(body).toMatch(new RegExp(`,"?'${note.replace('+', '\\+')}"?,`));
  },
);

test('10,000 keys', async () => {
  const { body } = await post(wish({ amount: 10_000 }));
  expect(body.split('\n')).toHaveLength(10_002);
});

test('the table can be imported', async () => {
  const { body } = await post(wish({ amount: 2, note: "'=1+1" }));
  const imported = await licensesOf(api, await newApp(api)).import(body);
  expect(imported.body).toMatchObject({ imported: 2 });
});

test('VALIDATION_FAILED as for keys in JSON', async () => {
  expectFaults((await post(wish({ amount: 0 }))) as never, '/amount');
  expectFaults((await post({ amount: 1, tier: 'Pro' })) as never, '/duration_days');
});

test('an Idempotency-Key returns the same table again; in JSON it is another request', async () => {
  const key = { 'idempotency-key': own.app_id };
  const first = await post(wish(), key);
  expect((await post(wish(), key)).body).toBe(first.body);
  const inJson = await api.post(path, wish(), { token: own.token, headers: key });
  expectError(inJson, 422, 'IDEMPOTENCY_KEY_REUSED');
});
