import { afterAll, describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { credential, newChallenge } from '../operations/support/machine-payments.ts';
import { Api, type ApiResponse } from '../support/api.ts';
import { createMock } from '../../tools/mock.ts';
import { paymentEventWriter } from '../support/billing.ts';
import { signed } from '../support/fixtures.ts';
import { responseValidators } from '../support/response-validators.ts';
import { startTestService } from '../support/service.ts';
import { bodyFor, prepare } from './examples.ts';
import {
  operations,
  shapeOf,
  successOf,
  successTypes,
  takesJson,
  type ContractOperation,
} from './operations.ts';
import {
  deviceHeaders,
  examplePath,
  locate,
  newOwner,
  pageHeaders,
  queryOf,
  tokenFor,
} from './parameters.ts';

const PROBLEM_JSON = 'application/problem+json';

interface Request {
  /** Includes the query. */
  readonly path: string;
  readonly body: unknown;
  readonly token: string | undefined;
  /** Sends the body, or a replacement, with matching headers. */
  send(other?: { readonly body?: unknown; readonly token?: string | undefined }): Promise<ApiResponse>;
  /** The headers for a body. */
  headersOf(body: unknown): Record<string, string>;
}

/** An implementation of the contract. */
interface Target {
  readonly api: Api;
  /** The contract's example of a request, adapted to this target. */
  exampleOf(operation: ContractOperation): Promise<Request>;
}

/** Combines the parts of a request. */
function toRequest(
  api: Api,
  operation: ContractOperation,
  { path, body, token, headersOf }: Omit<Request, 'send'>,
): Request {
  const allHeaders = (some: unknown) => ({ ...typeOf(operation), ...headersOf(some) });
  return {
    path,
    body,
    token,
    headersOf: allHeaders,
    send: (other = {}) => {
      const sent = { body, token, ...other };
      const headers = allHeaders(sent.body);
      return api.call(operation.method, path, sent.body, { token: sent.token, headers });
    },
  };
}

/** The media type of an operation's request, and the requested one. */
function typeOf(operation: ContractOperation): Record<string, string> {
  const { requestBody } = operation;
  const [first] = successTypes(operation);
  return {
    ...(requestBody && { 'content-type': requestBody.mediaType }),
    ...(first !== undefined && { accept: `${first}, ${PROBLEM_JSON};q=0.5` }),
  };
}

/** A mock of the contract by Prism in this process, which ends with the file. */
async function startMock(): Promise<Target> {
  const server = await createMock('silent');
  const api = new Api(await server.listen(0, '127.0.0.1'));
  afterAll(() => server.close());
  const { RequestSignatureParameter, RequestTimestampParameter } = contract.components.parameters;
  const signature = {
    'x-signature': RequestSignatureParameter.example,
    'x-timestamp': RequestTimestampParameter.example,
  };
  return {
    api,
    exampleOf: async (operation) =>
      toRequest(api, operation, {
        path: examplePath(operation.path) + queryOf(operation),
        body: operation.requestBody?.example,
        token: operation.bearer ? 'any' : undefined,
        headersOf: () => ({
          ...(operation.signature && signature),
          // By default the mock looks for a success, and some operations have none.
          ...(successOf(operation) === undefined && { prefer: 'code=402' }),
        }),
      }),
  };
}

/** The service. Examples get the identifiers of a new application with a user, a session and a key. */
async function startReal(): Promise<Target> {
  const service = await startTestService();
  const { api, clock } = service;
  const processor = await paymentEventWriter(service);
  return {
    api,
    async exampleOf(operation) {
      const owner = await newOwner(api);
      await prepare(owner, operation);
      const isPaymentEvent = operation.operationId === 'receivePaymentEvent';
      const ofPages = await pageHeaders(owner, operation);
      const payment = operation.acceptsPayment ? credential(await newChallenge(api)) : undefined;
      const path = (await locate(owner, operation.path)) + queryOf(operation);
      return toRequest(api, operation, {
        path,
        body: isPaymentEvent ? processor.event([]) : await bodyFor(owner, operation, service),
        token: await tokenFor(owner, operation),
        headersOf: (body) => ({
          ...(operation.signature && signed(owner.app, body as object, { at: clock.now() })[1]),
          ...ofPages,
          ...deviceHeaders(owner, operation, path, body, clock.now()),
          ...(payment !== undefined && { authorization: payment }),
          ...(isPaymentEvent && processor.headers(toText(body))),
        }),
      });
    },
  };
}

/** Keeps one example per operation: refused requests do not change it. */
function remembering({ api, exampleOf }: Target): Target {
  const made = new Map<string, Promise<Request>>();
  return {
    api,
    exampleOf(operation) {
      const known = made.get(operation.operationId) ?? exampleOf(operation);
      made.set(operation.operationId, known);
      return known;
    },
  };
}

const targets: [string, Target][] = [
  ['the mock', remembering(await startMock())],
  ['the service', remembering(await startReal())],
];

const each = operations.map((operation) => [operation.operationId, operation] as const);
const withJson = each.filter(([, operation]) => takesJson(operation));
const guarded = each.filter(([, { bearer }]) => bearer);

describe.each(targets)('%s', (name, { exampleOf }) => {
  test.each(each)('%s returns success for its example', async (_operationId, operation) => {
    const response = await (await exampleOf(operation)).send();
    const success = successOf(operation) ?? '402';
    expect(response.status, JSON.stringify(response.body)).toBe(Number(success));
    const content = operation.responses[success]!;
    const mediaType = response.headers.get('content-type')?.split(';')[0];
    expect(mediaType).toBe(Object.keys(content)[0]);
    // The status of a claim is defined by auth.md.
    const status = operation.operationId === 'claimAgent' ? 'initiated' : 'success';
    if (mediaType === 'application/json') expect(response.body).toMatchObject({ status });
    // The client has already checked the response against the contract.
  });

  test.each(withJson)('%s refuses a body that lacks a required member', async (_operationId, operation) => {
    const { body, send } = await exampleOf(operation);
    const { required } = shapeOf(operation.requestBody!.schema);
    const bodies = required.map((member) => ({ ...(body as object), [member]: undefined }));
    if (required.length === 0 && needsMembers(operation)) bodies.push({});
    for (const incomplete of bodies) {
      expectInvalid(name, operation, await send({ body: incomplete }));
    }
  });

  test.each(withJson)('%s refuses members of a wrong type', async (_operationId, operation) => {
    const { body, send } = await exampleOf(operation);
    const { properties } = shapeOf(operation.requestBody!.schema);
    for (const member of Object.keys(body as object)) {
      // The members of a signed token are not in the contract, and members of any type have no wrong values.
      if (Object.keys(properties).length === 0) continue;
      const takesObjects = (properties[member]?.type ?? 'object') === 'object' && !properties[member]?.$ref;
      const wrong = takesObjects ? [['wrong']] : { wrong: true };
      const response = await send({ body: { ...(body as object), [member]: wrong } });
      expectInvalid(name, operation, response, member);
    }
  });

  test.each(guarded)('%s refuses a missing token', async (_operationId, operation) => {
    const response = await (await exampleOf(operation)).send({ token: undefined });
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(response.body).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  });
});

describe('the mock returns every error', () => {
  const mock = targets[0]![1];

  test.each(each)('%s', async (operationId, operation) => {
    const { path, body, token, headersOf } = await mock.exampleOf(operation);
    const errors = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
    expect(errors).toContain('500');
    for (const status of errors) {
      const response = await fetch(mock.api.baseUrl + path, {
        method: operation.method,
        headers: {
          ...headersOf(body),
          accept: PROBLEM_JSON,
          prefer: `code=${status}`,
          ...(token && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: toText(body) }),
      });
      expect(response.status).toBe(Number(status));
      expectProblem(operationId, response, await response.json());
    }
  });
});

/** Whether the schema refuses an empty object. */
function needsMembers({ requestBody }: ContractOperation): boolean {
  const schema = JSON.stringify(shapeOf(requestBody!.schema).constraints);
  return /"minProperties"|"anyOf"|"oneOf"/.test(schema);
}

/** Prism prefers a declared 422 for invalid requests. In this contract, it has another meaning. */
function expectInvalid(
  name: string,
  { responses }: ContractOperation,
  response: ApiResponse,
  member = '',
): void {
  const wanted =
    name === 'the mock' && Object.hasOwn(responses, '422')
      ? { status: 422 }
      : { status: 400, code: 'VALIDATION_FAILED' };
  expect(response.status, member).toBe(wanted.status);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(response.body).toMatchObject(wanted);
}

function toText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Validates a problem with our validators: Prism's accept `application/json` for `application/problem+json`. */
function expectProblem(operationId: string, { status, headers }: Response, body: unknown): void {
  expect(headers.get('content-type')?.split(';')[0]).toBe(PROBLEM_JSON);
  const { [status]: declared, [`${String(status)[0]}XX`]: range } = responseValidators[operationId]!;
  const validate = (declared ?? range)![PROBLEM_JSON]!;
  expect(validate(body) || validate.errors).toBe(true);
  expect(body).toMatchObject({ status });
}
