import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { suspend } from '../../operations/support/developer-accounts.ts';
import { newApiToken } from '../../operations/support/tokens.ts';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { newBrowserSession } from '../../support/browser-session.ts';
import { newApp, newDeveloper, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';

const service = await startTestService();
const { api, clock } = service;
const { knex } = service.database;

/** More than the sockets and buffers between the service and a client take. */
const ROWS = 2_500;
const WIDE = `repeat('0123456789', 1000)`;
/** All that the exports need. */
const SCOPES = ['read', 'auth:dev'] as const;

const developer = await newDeveloper(api);
const app = await newApp(api, developer);
await fill();

/** Gives the application many wide rows of what can be exported. */
async function fill(): Promise<void> {
  await app.keys(ROWS);
  await newUser(api, app);
  await knex.raw(`update licenses set note = ${WIDE} where app_id = ?`, [app.app_id]);
  await knex.raw(
    `insert into users select made.* from users u cross join generate_series(1, ${ROWS}) n,
       jsonb_populate_record(u, jsonb_build_object('user_id', 'usr_' || lpad(n::text, 26, '0'),
         'username_key', 'user' || n, 'username_look', null, 'email', ${WIDE})) made where u.app_id = ?`,
    [app.app_id],
  );
  const owners = await knex('audit_log').distinct<{ developer_id: string }[]>('developer_id');
  for (const owner of new Set([...owners.map(({ developer_id }) => developer_id), await administratorId()])) {
    await knex.raw(
      `insert into audit_log select 'aud_' || lpad(n::text, 26, '0'), ?, null, 'developer', 'dev_x', '', 'user.updated',
         null, jsonb_build_object('text', ${WIDE}), now() from generate_series(1, ${ROWS}) n`,
      [owner],
    );
  }
}

/** Whose entries the administrator sees. */
async function administratorId(): Promise<string> {
  await suspend(api, (await newDeveloper(api)).developerId);
  const row = await knex('audit_log')
    .where({ actor_kind: 'administrator', address: '127.0.0.1' })
    .first<{ developer_id: string }>('developer_id');
  return row.developer_id;
}

/** Begins a download, and reads nothing of it yet. */
async function begin(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const request = get(api.baseUrl + path, { headers });
  onTestFinished(() => void request.destroy());
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response;
}

/** Reads the rest of a download. @returns whether it was complete */
async function isComplete(response: IncomingMessage): Promise<boolean> {
  try {
    for await (const part of response) void part;
    return true;
  } catch {
    return false;
  }
}

const OF_DEVELOPER: Readonly<Record<string, string>> = {
  exportLicenses: `/api/v2/dev/apps/${app.app_id}/licenses/export`,
  exportLicensesAsNdjson: `/api/v2/dev/apps/${app.app_id}/licenses/export/ndjson`,
  exportUsers: `/api/v2/dev/apps/${app.app_id}/users/export`,
  exportUsersAsNdjson: `/api/v2/dev/apps/${app.app_id}/users/export/ndjson`,
  exportAuditLog: '/api/v2/dev/audit-log/export',
  exportAuditLogAsNdjson: '/api/v2/dev/audit-log/export/ndjson',
};
const OF_ADMINISTRATOR: Readonly<Record<string, string>> = {
  exportAdministratorAuditLog: '/api/v2/admin/audit-log/export',
  exportAdministratorAuditLogAsNdjson: '/api/v2/admin/audit-log/export/ndjson',
};

test('every export of the contract is tried here', () => {
  const contract = readFileSync('generated/openapi.json', 'utf8');
  const exports = [...contract.matchAll(/"operationId": ?"(export\w+)"/g)].map(([, id]) => id);
  expect(exports.toSorted()).toEqual(Object.keys({ ...OF_DEVELOPER, ...OF_ADMINISTRATOR }).toSorted());
});

describe('a running export is cut short within 15 seconds after its credential is revoked', () => {
  test.each(Object.keys(OF_DEVELOPER))('%s with an API token', async (operation) => {
    const { token, token_id } = await newApiToken(api, developer, SCOPES);
    const headers = { authorization: `Bearer ${token}` };
    const [cut, whole] = [
      await begin(OF_DEVELOPER[operation]!, headers),
      await newApiToken(api, developer, SCOPES),
    ];
    const kept = await begin(OF_DEVELOPER[operation]!, { authorization: `Bearer ${whole.token}` });
    const revoked = await api.call('DELETE', `/api/v2/dev/tokens/${token_id}`, undefined, developer);
    expect(revoked.status).toBe(200);
    clock.advance(15_000);
    expect(await Promise.all([isComplete(cut), isComplete(kept)])).toEqual([false, true]);
  });

  test.each(Object.keys(OF_ADMINISTRATOR))('%s with a browser session', async (operation) => {
    const { headers } = await newBrowserSession(api, { token: ADMINISTRATOR.token });
    const cut = await begin(OF_ADMINISTRATOR[operation]!, headers);
    expect((await api.call('DELETE', '/api/v2/dev/browser-session', undefined, { headers })).status).toBe(
      200,
    );
    clock.advance(15_000);
    expect(await isComplete(cut)).toBe(false);
  });
});

test('and after its developer is suspended', async () => {
  const cut = await begin(OF_DEVELOPER['exportUsers']!, { authorization: `Bearer ${developer.token}` });
  await suspend(api, developer.developerId);
  clock.advance(15_000);
  expect(await isComplete(cut)).toBe(false);
});
