import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { requestReset } from '../operations/support/passwords.ts';
import { newDeveloper, unique } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const { api } = await startTestService();
const query = vi.spyOn(pg.Client.prototype, 'query');

/** What the connection was asked in the end that has kept the link: the whole transaction, with the mail in it. */
async function transactionOf(email: string): Promise<string[]> {
  const before = query.mock.calls.length;
  expect((await requestReset(api, email)).status).toBe(202);
  const requested = query.mock.calls.slice(before).map(([statement], index) => ({
    client: query.mock.contexts[before + index],
    text: typeof statement === 'string' ? statement : (statement as { text: string }).text,
  }));
  const kept = requested.findIndex(({ text }) => text.includes('insert into "password_resets"'));
  const { client } = requested[kept]!;
  const mine = requested.map((each) => (each.client === client ? each.text : ''));
  const from = mine.findLastIndex((text, index) => index < kept && /^begin/i.test(text));
  const to = mine.findIndex((text, index) => index > kept && /^commit/i.test(text));
  return mine.slice(from, to + 1).filter((text) => text !== '');
}

test('asking for a new password is the same work whether there is an account or not', async () => {
  const { email } = await newDeveloper(api);
  await transactionOf(email);
  const known = await transactionOf(email);
  expect(known.some((text) => text.includes('pgboss'))).toBe(true);
  expect(await transactionOf(`${unique('nobody')}@example.com`)).toEqual(known);
  expect(await transactionOf(email)).toEqual(known);
});
