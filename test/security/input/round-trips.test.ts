import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { newReseller } from '../../operations/support/resellers.ts';
import { download, downloadOf, fileOf, newContent, putFile } from '../../operations/support/files.ts';
import type { ApiResponse } from '../../support/api.ts';
import { newApp, newDeveloper, newSession, unique } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { startTestService } from '../../support/service.ts';
import { NAUGHTY_STRINGS, SEED } from '../support/hostile.ts';

const { api } = await startTestService({ DATA_DIR: await temporaryFolder(afterAll) });
const developer = await newDeveloper(api);
const { token } = developer;
const app = await newApp(api, developer);
const own = `/api/v2/dev/apps/${app.app_id}`;
const [licenseId, userId] = await Promise.all([
  api.post<{ licenses: { license_id: string }[] }>(
    `${own}/licenses`,
    { amount: 1, tier: 'Pro', duration_days: 1 },
    app,
  ),
  newSession(api, app).then(({ token: session }) => api.verify({ app_id: app.app_id, token: session })),
]).then(([made, { body }]) => [made.body.licenses[0]!.license_id, body.user_id]);
const reseller = await newReseller(api, app, { balance: 1_000 });
const webhook = await api.post(`${own}/webhooks`, { url: 'https://example.com/', types: ['*'] }, app);

const get = async (path: string) => {
  const { status, body } = await api.call(
    'GET',
    path,
    undefined,
    path === '/api/v2/dev/reseller/ledger?limit=1' ? { token: reseller.token } : { token },
  );
  expect(status, path).toBe(200);
  return body;
};
const first = async (path: string) => ((await get(path))['data'] as Record<string, unknown>[])[0]!;

/** A text that a caller chooses. */
interface Kept {
  readonly what: string;
  readonly write: (text: string) => Promise<ApiResponse>;
  /** Reads it back from every place that returns it. */
  readonly read: (response: Record<string, unknown>) => Promise<unknown[]>;
}

/** A member of a response, or of the object in it. */
function memberOf(response: Record<string, unknown>, name: string): unknown {
  if (name in response) return response[name];
  const inner = Object.values(response).find(
    (each) => typeof each === 'object' && each !== null && name in each,
  );
  return (inner as Record<string, unknown> | undefined)?.[name];
}

const member = (name: string, ...paths: string[]): Kept['read'] => {
  return async (response) => [
    memberOf(response, name),
    ...(await Promise.all(paths.map(async (path) => memberOf(await get(path), name)))),
  ];
};

const KEPT: readonly Kept[] = [
  {
    what: 'the value of a variable',
    write: (value) => api.call('PUT', `${own}/variables/motd`, { value, visibility: 'public' }, app),
    read: async (response) => [
      memberOf(response, 'value'),
      memberOf(await get(`${own}/variables/motd`), 'value'),
      memberOf((await api.call('GET', `/api/v2/client/apps/${app.app_id}/variables/motd`)).body, 'value'),
    ],
  },
  {
    what: "the value of a user's variable",
    write: (value) => api.call('PUT', `${own}/users/${userId}/variables/motd`, { value }, app),
    read: async (response) => [
      memberOf(response, 'value'),
      (await first(`${own}/users/${userId}/variables?limit=1`))['value'],
    ],
  },
  {
    what: 'the note of a license',
    write: (note) => api.call('PATCH', `${own}/licenses/${licenseId}`, { note }, app),
    read: member('note', `${own}/licenses/${licenseId}`),
  },
  {
    what: 'the role of a user',
    write: (role) => api.call('PATCH', `${own}/users/${userId}`, { role }, app),
    read: member('role', `${own}/users/${userId}`),
  },
  {
    what: 'the name of a user',
    write: (username) => api.post(`${own}/users`, { username }, app),
    read: async (response) => [
      memberOf(response, 'username'),
      memberOf(await get(`${own}/users/${String(memberOf(response, 'user_id'))}`), 'username'),
    ],
  },
  {
    what: 'the reason of a ban',
    write: (reason) => api.post(`${own}/bans`, { kind: 'hardware', hwid: unique('machine'), reason }, app),
    read: async (response) => [memberOf(response, 'reason'), (await first(`${own}/bans?limit=1`))['reason']],
  },
  {
    what: 'a machine that is banned',
    write: (hwid) => api.post(`${own}/bans`, { kind: 'hardware', hwid }, app),
    read: async () => [],
  },
  {
    what: 'the name of a reseller',
    write: (name) => api.call('PATCH', reseller.path, { name }, app),
    read: member('name', reseller.path),
  },
  {
    what: 'the note of a credit',
    write: (note) => api.post(`${reseller.path}/credits`, { amount: 1, note }, app),
    read: async () => [
      (await first(`${reseller.path}/ledger?limit=1`))['note'],
      (await first('/api/v2/dev/reseller/ledger?limit=1'))['note'],
    ],
  },
  {
    what: 'the name of a token',
    write: (name) => api.post('/api/v2/dev/tokens', { name, scopes: ['read'] }, app),
    read: async (response) => [
      memberOf(response, 'name'),
      (await first('/api/v2/dev/tokens?limit=1'))['name'],
    ],
  },
  {
    what: 'the description of a webhook',
    write: (description) =>
      api.call('PATCH', `${own}/webhooks/${String(webhook.body['webhook_id'])}`, { description }, app),
    read: member('description', `${own}/webhooks/${String(webhook.body['webhook_id'])}`),
  },
  {
    what: 'the version of a file',
    write: async (version) => {
      await putFile(api, app, 'versioned.bin', 'content');
      return api.call('PATCH', fileOf(app, 'versioned.bin'), { version }, app);
    },
    read: member('version', fileOf(app, 'versioned.bin')),
  },
];

const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
);

describe.each(KEPT)('$what', ({ what, write, read }) => {
  test('is returned exactly if it is accepted', async () => {
    let kept = 0;
    const check = async (written: string) => {
      const { status, body } = await write(written);
      const label = `${what} ${JSON.stringify(written)}: ${JSON.stringify(body)}`;
      if (status >= 300) {
        expect([400, 409], label).toContain(status);
        return;
      }
      kept += 1;
      for (const back of await read(body)) expect(back, label).toBe(written);
    };
    for (const written of NAUGHTY_STRINGS) await check(written);
    await fc.assert(fc.asyncProperty(text, check), { seed: SEED, numRuns: 8, endOnFailure: true });
    expect(kept).toBeGreaterThan(10);
  });
});

test('the name of a file is returned exactly, with its content', async () => {
  const sent = new Map<string, Buffer>();
  for (const name of NAUGHTY_STRINGS.filter((each) => each.isWellFormed() && each !== '')) {
    const content = newContent(10);
    const { status, body } = await putFile(api, app, name, content);
    expect([200, 400, 404, 413, 414], name).toContain(status);
    if (status !== 200) continue;
    expect(memberOf({ ...body }, 'name')).toBe(name);
    sent.set(name, content);
  }
  expect(sent.size).toBeGreaterThan(10);
  for (const [name, content] of sent) {
    expect(memberOf(await get(fileOf(app, name)), 'name')).toBe(name);
    const path = downloadOf(app, name);
    expect((await download(api, path)).content.equals(content), name).toBe(true);
  }
});

test('notes of imported licenses are returned exactly', async () => {
  const other = await newApp(api, developer);
  const base = `/api/v2/dev/apps/${other.app_id}`;
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  const notes = NAUGHTY_STRINGS.filter(
    (each) => each.isWellFormed() && each !== '' && !each.includes('\u0000') && [...each].length <= 500,
  );
  const options = { token, headers: { 'content-type': 'text/csv' } };
  const rows = notes.map((note, index) => `NOTED-KEY-${1000 + index},Pro,30,${quoted(note)}`);
  const imported = await api.post(
    `${base}/licenses/import`,
    `license_key,tier,duration_days,note\n${rows.join('\n')}\n`,
    options,
  );
  expect(imported.status, JSON.stringify(imported.body)).toBe(201);
  const listed: unknown[] = [];
  for (let path = `${base}/licenses?limit=100`, cursor: unknown = ''; cursor !== null;) {
    const { data, next_cursor } = await get(path);
    listed.push(...(data as { note: string }[]).map(({ note }) => note));
    cursor = next_cursor;
    path = `${base}/licenses?limit=100&cursor=${String(cursor)}`;
  }
  expect(listed.toSorted()).toEqual(notes.toSorted());
});
