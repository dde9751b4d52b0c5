import { expect, test } from 'vitest';
import { DAY, SECOND } from '../../support/clock.ts';
import { newApp, newHwid } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { callUsers, registered } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;

testForeignUsers(service, 'GET', '/sessions');

interface List {
  readonly data: { began_at: string; expires_at: string; machine: string }[];
}

test('live sessions, the oldest first, with labels for machines and without tokens', async () => {
  const app = await newApp(api);
  await app.patch({ hwid_lock: false });
  const user = await registered(api, app);
  const hwids = [user.hwid, newHwid()];
  const secrets: string[] = [...hwids];
  const began: string[] = [];
  for (const hwid of hwids) {
    began.push(clock.now().toISOString());
    const { body } = await api.login(app.with({ ...user, hwid }));
    secrets.push(body.token, body.session_id);
    clock.advance(SECOND);
  }
  const list = () => callUsers<List>(api, app, 'GET', `/${user.userId}/sessions`);
  const { status, body } = await list();
  expect(status).toBe(200);
  expect(body.data.map(({ began_at }) => began_at)).toEqual(began);
  expect(body.data.map(({ expires_at }) => Date.parse(expires_at))).toEqual(
    began.map((moment) => Date.parse(moment) + DAY),
  );
  expect(new Set(body.data.map(({ machine }) => machine)).size).toBe(2);
  for (const secret of secrets) expect(JSON.stringify(body)).not.toContain(secret);

  await api.login(app.with(user));
  const after = (await list()).body.data;
  expect(after).toHaveLength(2);
  expect(after.at(-1)!.machine).toBe(body.data[0]!.machine);
});

test('no session that has ended or expired', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const { body: session } = await api.login(app.with(user));
  await api.logout({ app_id: app.app_id, token: session.token });
  const { body } = await callUsers(api, app, 'GET', `/${user.userId}/sessions`);
  expect(body).toEqual({ status: 'success', data: [] });
});
