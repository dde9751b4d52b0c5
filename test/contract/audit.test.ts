import { expect, test } from 'vitest';
import { connectTo } from '../support/database.ts';
import { startTestService } from '../support/service.ts';
import { bodyFor, prepare } from './examples.ts';
import { operations } from './operations.ts';
import { locate, newOwner, queryOf, tokenFor } from './parameters.ts';

const service = await startTestService();
const { api } = service;

/** Operations that change something for developers or the administrator. */
const changing = operations.filter(({ method, tokenKind }) => {
  const logged = ['developer', 'reseller', 'administrator'];
  return logged.includes(tokenKind ?? '') && !['GET', 'HEAD'].includes(method);
});

/** Operations that do not write exactly one entry. */
const OTHERS: Readonly<Record<string, number>> = {
  // One in the log of the administrator, and one in the developer's.
  suspendDeveloper: 2,
  reinstateDeveloper: 2,
  // The keys, their price and the commission.
  createResellerLicenses: 3,
  refundResellerLicense: 3,
  // The variable in the path was created with the example value, so nothing changes.
  setVariable: 0,
  setUserVariable: 0,
};

test.each(changing.map((operation) => [operation.operationId, operation] as const))(
  '%s writes an entry to the audit log, and none if it is refused',
  async (_id, operation) => {
    const owner = await newOwner(api);
    const database = await connectTo(service.databaseUrl);
    const entries = async () => {
      const { rows } = await database.query<{ action: string }>(
        // Payment events change more asynchronously, with the service as the actor.
        `select action from audit_log where developer_id in ($1, 'administrator') and actor_kind <> 'service'
         order by audit_id`,
        [owner.developer.developerId],
      );
      return rows.map(({ action }) => action);
    };
    await prepare(owner, operation);
    const path = (await locate(owner, operation.path)) + queryOf(operation);
    const body = await bodyFor(owner, operation);
    const token = await tokenFor(owner, operation);
    const headers = operation.requestBody && { 'content-type': operation.requestBody.mediaType };
    const before = await entries();
    await api.call(operation.method, path, body, { token: 'nonsense', headers });
    expect(await entries()).toEqual(before);
    const response = await api.call(operation.method, path, body, { token, headers });
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
    const after = await entries();
    expect(after.slice(before.length), operation.operationId).toHaveLength(
      OTHERS[operation.operationId] ?? 1,
    );
  },
);
