import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const service = await startTestService();
const { api } = service;

const exported = (token: string, query = '') =>
  api.call('GET', `/api/v2/dev/audit-log/export${query}`, undefined, { token });
const rowsOf = async (token: string, query = '') =>
  parse((await exported(token, query)).body as unknown as string) as string[][];

test('CSV, newest first, as the list shows it', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await newApiToken(api, developer, ['read'], { name: '=1+1' });
  const response = await exported(developer.token);
  expect(response.headers.get('content-type')).toBe('application/octet-stream');
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"');
  const [heading, ...rows] = parse(response.body as unknown as string) as string[][];
  expect(heading).toEqual([
    'audit_id',
    'created_at',
    'actor_kind',
    'actor_id',
    'address',
    'action',
    'app_id',
    'target',
    'data',
  ]);
  const entries = await auditLog(api, developer);
  expect(rows).toEqual(
    entries.map((entry) => [
      entry.audit_id,
      entry.created_at,
      entry.actor.kind,
      entry.actor.id,
      entry.actor.address,
      entry.action,
      entry.app_id ?? '',
      entry.target ?? '',
      JSON.stringify(entry.data),
    ]),
  );
  expect(rows.some((row) => row[6] === app.app_id)).toBe(true);
});

test('accepts the filters of the list', async () => {
  const developer = await newDeveloper(api);
  await newApp(api, developer);
  const actions = async (query: string) =>
    (await rowsOf(developer.token, query)).slice(1).map((row) => row[5]);
  expect(await actions('?action_prefix=application.')).toEqual(['application.created']);
  expect(await actions('?actor_kind=api_token')).toEqual([]);
  expect(await actions('?action=developer.registered')).toEqual(['developer.registered']);
});

test('has every entry of a long log once, and none of another developer', async () => {
  const developer = await newDeveloper(api);
  const { knex } = service.database;
  await knex.raw(
    `insert into audit_log select 'aud_' || lpad(n::text, 26, '0'), ?, null, 'developer', ?, '203.0.113.1',
       'user.updated', null, '{}', now() from generate_series(1, 1499) n`,
    [developer.developerId, developer.developerId],
  );
  const ids = (await rowsOf(developer.token)).slice(1).map(([id]) => id!);
  expect(ids).toHaveLength(1500);
  expect(new Set(ids).size).toBe(1500);
  expect(ids).toEqual(ids.toSorted().toReversed());
  const stranger = await newDeveloper(api);
  expect(await rowsOf(stranger.token)).toHaveLength(2);
});

test('VALIDATION_FAILED and INSUFFICIENT_SCOPE', async () => {
  const developer = await newDeveloper(api);
  expectFaults(await exported(developer.token, '?actor_kind=robot'), 'query/actor_kind');
  expectFaults(await exported(developer.token, '?action_prefix=License'), 'query/action_prefix');
  const { token } = await newApiToken(api, developer, ['read', 'write']);
  expectError(await exported(token), 403, 'INSUFFICIENT_SCOPE');
});
