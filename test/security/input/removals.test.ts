import { describe, expect, test } from 'vitest';
import { operations, type ContractOperation } from '../../contract/operations.ts';
import { newApiToken } from '../../operations/support/tokens.ts';
import type { ApiResponse } from '../../support/api.ts';
import { startTestService } from '../../support/service.ts';
import { expectNoFailure, requestOf } from '../support/requests.ts';

const service = await startTestService();
const { api } = service;

/** Whether a response does not end: an event stream. */
const isEndless = ({ operationId }: ContractOperation) => /^stream/.test(operationId);

const below = operations.filter(
  (operation) =>
    operation.path.includes('/{app_id}') && operation.tokenKind !== undefined && !isEndless(operation),
);
const changing = operations.filter(({ method, tokenKind }) => method !== 'GET' && tokenKind !== undefined);

/** Done, already done, gone, in a wrong state, or refused as one of several concurrent requests. */
const DONE_OR_GONE = [200, 201, 202, 204, 304, 400, 404, 409, 429];

/** Sends a request before, during and after a removal. */
async function around(
  send: () => Promise<ApiResponse>,
  take: () => Promise<unknown>,
  what: string,
): Promise<number[]> {
  const [early, , , late] = await Promise.all([
    expectNoFailure(send(), what),
    take(),
    expectNoFailure(send(), what),
    expectNoFailure(send(), what),
  ]);
  const after = await expectNoFailure(send(), what);
  return [early, late, after].map(({ status }) => status);
}

describe('while an application is deleted', () => {
  test.each(below)('$operationId: done, or not found', async (operation) => {
    const request = await requestOf(service, operation);
    const { app, developer } = request.owner;
    const statuses = await around(
      () => request.send(),
      () => api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, developer),
      operation.operationId,
    );
    // A session ends with its application.
    const gone = operation.tokenKind === 'session' ? [401, 404] : [404];
    for (const status of statuses) expect([...DONE_OR_GONE, ...gone]).toContain(status);
    expect(gone, operation.operationId).toContain(statuses.at(-1));
  });

  test('all operations that change it, at once: done, or not found', async () => {
    const [first, ...rest] = below.filter(({ method }) => method !== 'GET');
    const start = await requestOf(service, first!);
    const requests = [start];
    for (const operation of rest) {
      if (operation.operationId === 'deleteApplication') continue;
      requests.push(await requestOf(service, operation, start.owner));
    }
    const { app, developer } = start.owner;
    const path = `/api/v2/dev/apps/${app.app_id}`;
    const responses = await Promise.all([
      ...requests.map((request) => request.send()),
      api.call('DELETE', path, undefined, developer),
      ...requests.map((request) => request.send()),
    ]);
    for (const { status, body } of responses) {
      expect(DONE_OR_GONE, JSON.stringify(body)).toContain(status);
    }
    expect((await api.call('GET', path, undefined, developer)).status).toBe(404);
  });
});

describe('while a token is revoked', () => {
  const ofDevelopers = changing.filter(({ tokenKind }) => tokenKind === 'developer');

  test.each(ofDevelopers)('$operationId: done, or 401', async (operation) => {
    const request = await requestOf(service, operation);
    const { developer } = request.owner;
    const { token, token_id } = await newApiToken(api, developer, [
      'read',
      'write',
      'auth:dev',
      'agent:register',
      'agent:execute',
    ]);
    const statuses = await around(
      () => request.send({ token }),
      () => api.call('DELETE', `/api/v2/dev/tokens/${token_id}`, undefined, developer),
      operation.operationId,
    );
    // The second request sends the old password.
    const also = operation.operationId === 'changeDeveloperPassword' ? [403] : [];
    for (const status of statuses) expect([...DONE_OR_GONE, ...also, 401]).toContain(status);
    expect(statuses.at(-1)).toBe(401);
  });

  test.each(changing.filter(({ tokenKind }) => tokenKind === 'reseller'))(
    '$operationId, while its reseller is suspended: done, or refused',
    async (operation) => {
      const request = await requestOf(service, operation);
      const { owner } = request;
      const { body } = await api.call<{ data: { reseller_id: string }[] }>(
        'GET',
        '/api/v2/dev/resellers',
        undefined,
        owner.developer,
      );
      const path = `/api/v2/dev/resellers/${body.data[0]!.reseller_id}`;
      const statuses = await around(
        () => request.send(),
        async () => {
          await api.call('PATCH', path, { suspended: true }, owner.developer);
          const { body: list } = await api.call<{ data: { token_id: string }[] }>(
            'GET',
            `${path}/tokens`,
            undefined,
            owner.developer,
          );
          for (const { token_id } of list.data) {
            await api.call('DELETE', `${path}/tokens/${token_id}`, undefined, owner.developer);
          }
        },
        operation.operationId,
      );
      for (const status of statuses) expect([...DONE_OR_GONE, 401, 403]).toContain(status);
      expect(statuses.at(-1)).toBe(401);
    },
  );
});
