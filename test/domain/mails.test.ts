import { expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
const { mails } = service.services;
const { knex } = service.database;

const message = {
  to: 'ada@example.com',
  subject: 'Welcome',
  text: 'Open https://latchkey.example/c/hunter2',
};

test('a mail is sent when the transaction commits, and not when it is rolled back', async () => {
  const rolledBack = knex.transaction(async (trx) => {
    await mails.enqueue(trx, { ...message, subject: 'Never' });
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  await knex.transaction(async (trx) => {
    await mails.enqueue(trx, message);
    expect(await service.mailbox()).toEqual([]);
  });
  await expect.poll(service.mailbox).toHaveLength(1);
  const [mail] = await service.mailbox();
  expect(mail).toMatchObject({
    from: { name: 'Latchkey', address: 'no-reply@localhost' },
    to: [{ address: message.to }],
    subject: message.subject,
    text: `${message.text}\n`,
  });
});
