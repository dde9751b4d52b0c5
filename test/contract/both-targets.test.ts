import { createLogger } from '@stoplight/prism-core';
import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { createServer } from '@stoplight/prism-http-server';
import { afterAll, describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { responseValidators } from '../../generated/response-validators.js';
import { Api, type Answer } from '../support/api.ts';
import { ban, newApp, newDeveloper, newUser, signed, unique } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { operations, shapeOf, type ContractOperation } from './operations.ts';

const PROBLEM_JSON = 'application/problem+json';

interface Request {
  readonly path: string;
  readonly body: Record<string, unknown> | undefined;
  readonly token: string | undefined;
  /** Sends the body, or another one in its place, with the headers that belong to it. */
  send(other?: { readonly body?: unknown; readonly token?: string | undefined }): Promise<Answer>;
  /** The headers that belong to a body. */
  headersOf(body: unknown): Record<string, string>;
}

/** Something that claims to keep the contract. */
interface Target {
  readonly api: Api;
  /** The contract's example of a request, as this target can take it. */
  exampleOf(operation: ContractOperation): Promise<Request>;
}

/** The parts of a request in one. */
function toRequest(
  api: Api,
  { method }: ContractOperation,
  { path, body, token, headersOf }: Omit<Request, 'send'>,
): Request {
  return {
    path,
    body,
    token,
    headersOf,
    send: (other = {}) => {
      const sent = { body, token, ...other };
      return api.call(method, path, sent.body, { token: sent.token, headers: headersOf(sent.body) });
    },
  };
}

/** The contract played by Prism, in this process; it ends with the file. */
async function startMock(): Promise<Target> {
  const server = createServer(await getHttpOperationsFromSpec(structuredClone(contract)), {
    components: { logger: createLogger('mock', { level: 'silent' }) },
    config: {
      isProxy: false,
      checkSecurity: true,
      validateRequest: true,
      validateResponse: true,
      errors: false,
      mock: { dynamic: false },
      upstreamProxy: undefined,
    },
    cors: false,
  });
  const api = new Api(await server.listen(0, '127.0.0.1'));
  afterAll(() => server.close());
  const { AppId, BanId, Signature, Timestamp } = contract.components.parameters;
  const signature = { 'x-signature': Signature.example, 'x-timestamp': Timestamp.example };
  return {
    api,
    exampleOf: async (operation) =>
      toRequest(api, operation, {
        path: operation.path.replace('{app_id}', AppId.example).replace('{ban_id}', BanId.example),
        body: operation.requestBody?.example as Request['body'],
        token: operation.bearer ? 'any' : undefined,
        headersOf: () => (operation.signature ? signature : {}),
      }),
  };
}

/** The service itself. Examples get the identifiers of a new application with a user, a session and a key. */
async function startReal(): Promise<Target> {
  const { api, clock } = await startTestService();
  return {
    api,
    async exampleOf(operation) {
      const { operationId, path, requestBody, bearer, signature } = operation;
      const developer = await newDeveloper(api);
      const app = await newApp(api, developer);
      const example = requestBody?.example as Record<string, string> | undefined;
      const {
        username = unique('user'),
        password = 'a user password',
        hwid = unique('machine'),
      } = example ?? {};
      const real: Record<string, unknown> = { app_id: app.app_id, secret: app.secret };
      if (operationId !== 'registerUser') {
        const user = await newUser(api, app, { username, password, hwid });
        real['token'] = (await api.login(app.with(user))).body.session_id;
        real['session_token'] = real['token'];
      }
      if (operationId === 'verifySandboxSession') {
        real['token'] = (await api.sandbox({ app_id: app.app_id, username, hwid })).body.token;
      }
      const banId = path.includes('{ban_id}') ? await ban(api, app, { kind: 'user', username }) : '';
      if (example?.['license_key'] !== undefined) [real['license_key']] = await app.keys(1, 'Pro', 30);
      if (operationId === 'loginDeveloper') Object.assign(real, developer);
      const members = Object.entries(example ?? {}).map(([name, value]) => [name, real[name] ?? value]);
      return toRequest(api, operation, {
        path: path.replace('{app_id}', app.app_id).replace('{ban_id}', banId),
        body: example && (Object.fromEntries(members) as Record<string, unknown>),
        token: bearer ? developer.token : undefined,
        headersOf: (body) => (signature ? signed(app, body as object, { at: clock.now() })[1] : {}),
      });
    },
  };
}

/** One example an operation: what is refused leaves it as it is. */
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
const withBody = each.filter(([, { requestBody }]) => requestBody !== undefined);
const guarded = each.filter(([, { bearer }]) => bearer);

describe.each(targets)('%s', (name, { api, exampleOf }) => {
  test.each(each)('%s answers its example with its success', async (_operationId, operation) => {
    const answer = await (await exampleOf(operation)).send();
    const success = Object.keys(operation.responses).find((status) => status.startsWith('2'));
    expect(answer.status).toBe(Number(success));
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body).toMatchObject({ status: 'success' });
    // The call has held status, media type, headers and body against the contract.
  });

  test.each(withBody)('%s refuses a body that lacks a required member', async (_operationId, operation) => {
    const { body, send } = await exampleOf(operation);
    const { required } = shapeOf(operation.requestBody!.schema);
    const bodies = required.length > 0 ? required.map((member) => ({ ...body, [member]: undefined })) : [{}];
    for (const incomplete of bodies) {
      const answer = await send({ body: incomplete });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(answer.body).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });

  test.each(withBody)('%s refuses members of a wrong type', async (_operationId, operation) => {
    const { body, send } = await exampleOf(operation);
    for (const member of Object.keys(body!)) {
      const answer = await send({ body: { ...body, [member]: { wrong: true } } });
      expect(answer.status, member).toBe(400);
      expect(answer.body).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });

  test.each(guarded)('%s refuses who has no token', async (_operationId, operation) => {
    const answer = await (await exampleOf(operation)).send({ token: undefined });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  });

  test.each(guarded)('%s answers a legacy client in the legacy model', async (operationId, operation) => {
    const { path, body, token } = await exampleOf(operation);
    // The mock chooses the model for answers that it is told to give; the service by what is wrong.
    const told = name === 'the mock' ? { authorization: `Bearer ${token}`, prefer: 'code=401' } : undefined;
    const response = await fetch(api.baseUrl + path, {
      method: operation.method,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...told },
      ...(body && { body: JSON.stringify(body) }),
    });
    expectAnswer(operationId, response.status, response.headers, await response.json(), 'application/json');
    expect(response.status).toBe(401);
  });
});

describe('the mock gives every declared error in both models', () => {
  const mock = targets[0]![1];

  test.each(each)('%s', async (operationId, operation) => {
    const { path, body, token, headersOf } = await mock.exampleOf(operation);
    const errors = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
    expect(errors).toContain('500');
    for (const status of errors) {
      for (const accept of [PROBLEM_JSON, 'application/json']) {
        const response = await fetch(mock.api.baseUrl + path, {
          method: operation.method,
          headers: {
            accept,
            prefer: `code=${status}`,
            ...headersOf(body),
            ...(token && { authorization: `Bearer ${token}` }),
            ...(body && { 'content-type': 'application/json' }),
          },
          ...(body && { body: JSON.stringify(body) }),
        });
        expect(response.status, `${status} ${accept}`).toBe(Number(status));
        expectAnswer(operationId, response.status, response.headers, await response.json(), accept);
      }
    }
  });
});

/** Holds an answer against our validators: Prism's own take `application/json` for `application/problem+json`. */
function expectAnswer(
  operationId: string,
  status: number,
  headers: Headers,
  body: unknown,
  mediaType: string,
): void {
  expect(headers.get('content-type')?.split(';')[0]).toBe(mediaType);
  const validate = responseValidators[operationId]?.[status]?.[mediaType];
  expect(validate, `${operationId} ${status} ${mediaType}`).toBeDefined();
  expect(validate!(body) || validate!.errors).toBe(true);
}
