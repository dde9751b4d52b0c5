import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectFaults } from '../support/errors.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { callUsers, registered, viewOf } from '../support/users.ts';
import { auditOf } from '../support/variables.ts';

const service = await startTestService();
const { api } = service;

testForeignUsers(service, 'PATCH', '', { role: 'admin' });

test('changes what is sent, and a login returns the role', async () => {
  const app = await newApp(api);
  const user = await registered(api, app, { email: 'old@example.com' });
  const before = await viewOf(api, app, user.userId);
  const { status, body } = await callUsers(api, app, 'PATCH', `/${user.userId}`, { role: 'Größe 1' });
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', ...before, role: 'Größe 1' });
  const { body: login } = await api.login(app.with(user));
  expect(login.user!.role).toBe('Größe 1');
  await callUsers(api, app, 'PATCH', `/${user.userId}`, { email: 'new@example.com' });
  expect(await viewOf(api, app, user.userId)).toMatchObject({ email: 'new@example.com', role: 'Größe 1' });
  const removed = await callUsers(api, app, 'PATCH', `/${user.userId}`, { email: null });
  expect(removed.body['email']).toBeNull();
});

test('the audit log has the new role, and only the fact that the email address changed', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  await callUsers(api, app, 'PATCH', `/${userId}`, { email: 'new@example.com', role: 'admin' });
  await callUsers(api, app, 'PATCH', `/${userId}`, { email: null });
  const [second, first] = (await auditOf(api, app)) as { action: string; data: object }[];
  expect(first).toMatchObject({ action: 'user.updated' });
  expect(first!.data).toEqual({ changed: ['email', 'role'], role: 'admin' });
  expect(second!.data).toEqual({ changed: ['email'] });
});

test('members that the developer cannot change stay', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const before = await viewOf(api, app, userId);
  const { body } = await callUsers(api, app, 'PATCH', `/${userId}`, {
    role: before.role,
    user_id: 'usr_other',
    username: 'other',
    password_hash: '$2b$10$',
    created_at: '2020-01-01T00:00:00.000Z',
  });
  expect(body).toEqual({ status: 'success', ...before });
});

test('VALIDATION_FAILED', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const patch = (body: unknown) => callUsers(api, app, 'PATCH', `/${userId}`, body);
  expectFaults(await patch({}), '');
  expectFaults(await patch({ email: 'nowhere' }), '/email');
  expectFaults(await patch({ role: null }), '/role');
  expectFaults(await patch({ role: 'a\u202eb' }), '/role');
});
