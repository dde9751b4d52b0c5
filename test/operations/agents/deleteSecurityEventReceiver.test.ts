import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { deleteReceiver, getReceiver, newReceiver } from '../../webhooks/support/security-events.ts';
import { comparable, expectError } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

const { api } = await startTestService();
const URL = 'https://idp.example.com/events';

test('deletes the receiver, once', async () => {
  const developer = await newDeveloper(api);
  const { receiver_id } = await newReceiver(api, developer, URL);
  const kept = await newReceiver(api, developer, URL);
  const responses = await Promise.all([1, 2, 3].map(() => deleteReceiver(api, developer, receiver_id)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
  expect(await getReceiver(api, developer, receiver_id)).toBeUndefined();
  expect(await getReceiver(api, developer, kept.receiver_id)).toBeDefined();
  const path = '/api/v2/dev/audit-log?action=security_event_receiver.deleted';
  const { body } = await api.call<{ data: object[] }>('GET', path, undefined, { token: developer.token });
  expect(body.data).toMatchObject([{ target: receiver_id }]);
});

test('RECEIVER_NOT_FOUND is the same for another developer’s and an absent one', async () => {
  const [developer, other] = [await newDeveloper(api), await newDeveloper(api)];
  const { receiver_id } = await newReceiver(api, developer, URL);
  const foreign = await deleteReceiver(api, other, receiver_id);
  expectError(foreign, 404, 'RECEIVER_NOT_FOUND');
  const absent = await deleteReceiver(api, other, 'rcv_01kazm4q7ffx8v5t2w9y3b6n1c');
  expect(comparable(absent)).toEqual(comparable(foreign));
  expect(await getReceiver(api, developer, receiver_id)).toBeDefined();
});

test('INSUFFICIENT_SCOPE without auth:dev', async () => {
  const developer = await newDeveloper(api);
  const { receiver_id } = await newReceiver(api, developer, URL);
  const weak = await newApiToken(api, developer, ['read', 'write']);
  expectError(await deleteReceiver(api, weak, receiver_id), 403, 'INSUFFICIENT_SCOPE');
});
