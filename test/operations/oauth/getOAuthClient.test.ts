import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';

const { api } = await startTestService();

test('shows a client without its secret', async () => {
  const developer = await newDeveloper(api);
  const { client_secret, ...client } = await newClient(api, developer);
  expect(client_secret).toBeDefined();
  const { status, body } = await api.call(
    'GET',
    `/api/v2/dev/oauth-clients/${client.client_id}`,
    undefined,
    developer,
  );
  expect({ status, body }).toEqual({ status: 200, body: client });
});

test('counts as absent for another developer', async () => {
  const { client_id } = await newClient(api, await newDeveloper(api));
  const stranger = await newDeveloper(api);
  for (const id of [client_id, 'cli_01kb0p5c9hf4r7t0v3x6z9b2d5']) {
    expectError(
      await api.call('GET', `/api/v2/dev/oauth-clients/${id}`, undefined, stranger),
      404,
      'CLIENT_NOT_FOUND',
    );
  }
});
