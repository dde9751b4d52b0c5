import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import type { CallOptions } from '../../support/api.ts';
import { newBrowserSession } from '../../support/browser-session.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { expectError } from '../support/errors.ts';
import { meStatus, startTwoServices } from '../support/passwords.ts';
import { auditLog } from '../support/tokens.ts';

const { service, second } = await startTwoServices();
const { api } = service;

async function ids(as: CallOptions): Promise<string[]> {
  const { body } = await api.call<components['schemas']['DeveloperSessionList']>(
    'GET',
    '/api/v2/dev/sessions',
    undefined,
    as,
  );
  return body.data.map(({ developer_session_id }) => developer_session_id);
}
const end = (as: CallOptions, id: string) => api.call('DELETE', `/api/v2/dev/sessions/${id}`, undefined, as);

test('ends one session on every node, and no other one', async () => {
  const developer = await newDeveloper(api);
  const browser = await newBrowserSession(api, developer);
  const [ofBrowser, ofToken] = await ids(developer);
  const { status, body } = await end(developer, ofBrowser!);
  expect({ status, body }).toEqual({ status: 200, body: { status: 'success', message: 'Session ended.' } });
  expectError(await second.api.call('GET', '/api/v2/dev/me', undefined, browser), 401, 'UNAUTHORIZED');
  expect(await meStatus(second.api, developer.token)).toBe(200);
  expect(await auditLog(api, developer, '&action=developer.session_ended')).toMatchObject([
    { target: ofBrowser },
  ]);
  expectError(await end(developer, ofBrowser!), 404, 'SESSION_NOT_FOUND');
  expect((await end(developer, ofToken!)).status).toBe(200);
  expect(await meStatus(second.api, developer.token)).toBe(401);
});

test('SESSION_NOT_FOUND: a session of another developer, and one that does not exist', async () => {
  const [developer, other] = [await newDeveloper(api), await newDeveloper(api)];
  const [id] = await ids(other);
  expectError(await end(developer, id!), 404, 'SESSION_NOT_FOUND');
  expectError(await end(developer, 'dvs_01kazmd4v8fq2r6t0w3y5b7n9c'), 404, 'SESSION_NOT_FOUND');
  expect(await meStatus(api, other.token)).toBe(200);
});
