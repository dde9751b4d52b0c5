import { expect, test } from 'vitest';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const { api } = await startTestService();

const exported = (token: string, query = '') =>
  api.call('GET', `/api/v2/dev/audit-log/export/ndjson${query}`, undefined, { token });

test('one object a line, newest first, as the list shows it', async () => {
  const developer = await newDeveloper(api);
  await newApp(api, developer);
  const response = await exported(developer.token);
  expect(response.headers.get('content-type')).toBe('application/octet-stream');
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="audit-log.ndjson"');
  const lines = (response.body as unknown as string).split('\n').filter(Boolean);
  const entries = await auditLog(api, developer);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    entries.map(({ actor, ...entry }) => ({
      ...entry,
      actor_kind: actor.kind,
      actor_id: actor.id,
      address: actor.address,
    })),
  );
});

test('accepts the filters of the list', async () => {
  const developer = await newDeveloper(api);
  expect((await exported(developer.token, '?action=user.banned')).body).toBeUndefined();
});

test('VALIDATION_FAILED and INSUFFICIENT_SCOPE', async () => {
  const developer = await newDeveloper(api);
  expectFaults(await exported(developer.token, '?since=yesterday'), 'query/since');
  const { token } = await newApiToken(api, developer, ['read', 'write']);
  expectError(await exported(token), 403, 'INSUFFICIENT_SCOPE');
});
