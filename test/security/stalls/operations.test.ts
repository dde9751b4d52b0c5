import { afterAll, describe, expect, test } from 'vitest';
import { operations, takesJson, type ContractOperation } from '../../contract/operations.ts';
import { newOwner } from '../../contract/parameters.ts';
import { requestOf, type Request } from '../support/requests.ts';
import { startWatched, type Attack } from '../support/stalls.ts';
import { worstBodies, worstShapes } from '../support/worst-bodies.ts';
import { worstHeaders, worstHeads, type WorstHead } from '../support/worst-heads.ts';

const service = await startWatched();
const { api } = service;
const shared = await newOwner(api);
const requests = new Map<string, Request>();
// Operations that only read share one owner. Others would take away what the rest needs.
for (const batch of batches(operations, 6)) {
  await Promise.all(
    batch.map(async (operation) => {
      const owner = operation.method === 'GET' ? shared : undefined;
      requests.set(operation.operationId, await requestOf(service as never, operation, owner));
    }),
  );
}
api.quick = true;

const { stallsOf, seen } = service;
const endHealth = service.pollHealth();
afterAll(async () => {
  expect([...(await endHealth())]).toContain(200);
});

function withHead(request: Request, { name, query, headers, segment }: WorstHead): Attack {
  const path = segment === undefined ? request.path : request.path.replace(/[^/]*$/, segment);
  const difference = { path, ...(query !== undefined && { query }), ...(headers && { headers }) };
  return { name, send: async () => (await request.send(difference)).status };
}

/** Each operation is sent a quarter of the shapes, because they are parsed before the operation matters. */
const SHARE = 4;

/** The first operation gets all shapes. Each of the others gets those that the one before it left out. */
function isTried(name: string, index: number, place: number): boolean {
  return !name.startsWith('an additional member') || place === 0 || index % SHARE === place % SHARE;
}

const inJson = operations.filter(takesJson);

function attacksOn(operation: ContractOperation): readonly Attack[] {
  const request = requests.get(operation.operationId)!;
  const heads = worstHeads(operation).map((head) => withHead(request, head));
  if (!takesJson(operation)) return heads;
  const example = (request.body ?? {}) as Readonly<Record<string, unknown>>;
  const limit = operation.maxBytes ?? 131_072;
  const hasOwnLimit = operation.maxBytes !== undefined || operation.operationId === 'initApplication';
  const bodies = [...worstBodies(operation, example, limit), ...(hasOwnLimit ? worstShapes(limit) : [])];
  const place = inJson.indexOf(operation);
  const tried = bodies.filter(({ name }, index) => isTried(name, index, hasOwnLimit ? 0 : place));
  const sent = tried.map(({ name, text }) => ({
    name,
    send: async () => (await request.send({ body: text })).status,
  }));
  return [...heads, ...sent];
}

describe('no request blocks the process', () => {
  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    async (_name, operation) => {
      expect(await stallsOf(attacksOn(operation))).toEqual([]);
    },
  );

  test.each(['getHealth', 'initApplication', 'listLicenses', 'uploadFile'])(
    '%s with long headers',
    async (name) => {
      const request = requests.get(name);
      if (!request) throw new Error(`no operation ${name}`);
      expect(await stallsOf(worstHeaders().map((head) => withHead(request, head)))).toEqual([]);
    },
  );

  test('the attacks reached the code that they attack', () => {
    expect([...seen].filter((status) => status >= 500 && status !== 503)).toEqual([]);
    for (const status of [200, 201, 400, 401, 404]) expect([...seen]).toContain(status);
  });
});

function* batches<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
