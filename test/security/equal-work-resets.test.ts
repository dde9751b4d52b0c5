import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { requestReset } from '../operations/support/passwords.ts';
import { newDeveloper, unique } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const { api } = await startTestService();
const query = vi.spyOn(pg.Client.prototype, 'query');

/** The statements of the transaction that stored the link, with the mail in it. */
async function transactionOf(email: string): Promise<string[]> {
  const before = query.mock.calls.length;
  expect((await requestReset(api, email)).status).toBe(202);
  const requested = query.mock.calls.slice(before).map(([statement], index) => ({
    client: query.mock.contexts[before + index],
    text: typeof statement === 'string' ? statement : (statement as { text: string }).text,
  }));
  const kept = requested.findIndex(({ text }) => text.includes('insert into "password_resets"'));
  const { client } = requested[kept]!;
  const statements = requested.map((each) => (each.client === client ? each.text : ''));
  const from = statements.findLastIndex((text, index) => index < kept && /^begin/i.test(text));
  const to = statements.findIndex((text, index) => index > kept && /^commit/i.test(text));
  return statements.slice(from, to + 1).filter((text) => text !== '');
}

test('a password reset request does the same work with and without an account', async () => {
  const { email } = await newDeveloper(api);
  await transactionOf(email);
  const known = await transactionOf(email);
  expect(known.some((text) => text.includes('pgboss'))).toBe(true);
  expect(await transactionOf(`${unique('missing')}@example.com`)).toEqual(known);
  expect(await transactionOf(email)).toEqual(known);
});
