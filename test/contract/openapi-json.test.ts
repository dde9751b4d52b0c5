import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { catalog, type ErrorCode } from '../../src/foundation/errors/catalog.ts';
import { freePort } from '../support/free-port.ts';
import { startTestService } from '../support/service.ts';
import { operations, resolve, shapeOf, type ContractSchema } from './operations.ts';

const service = await startTestService();

describe('/openapi.json', () => {
  const get = (baseUrl: string) => fetch(`${baseUrl}/openapi.json`);

  test('is the generated contract with its own URL', async () => {
    const response = await get(service.baseUrl);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const { servers, ...document } = (await response.json()) as typeof contract;
    const { servers: _generated, ...generated } = contract;
    expect(document).toEqual(generated);
    expect(servers).toHaveLength(1);
    expect(servers[0]!.url).toBe(service.baseUrl);
  });

  test('contains BASE_URL if it is configured', async () => {
    // The service does not know its public URL, only the configured one.
    const port = await freePort();
    await startTestService({
      PORT: String(port),
      DATABASE_URL: service.databaseUrl,
      BASE_URL: 'https://api.example.com/',
    });
    const { servers } = (await (await get(`http://127.0.0.1:${port}`)).json()) as typeof contract;
    expect(servers[0]!.url).toBe('https://api.example.com');
  });

  test('has these versions', () => {
    expect(contract.openapi).toBe('3.0.3');
    expect(contract.info.version).toBe('2.0.0');
  });
});

/** A field in the tables of the specification: `type`, `type?` if it is optional, `date-time`, `uri`, `object`. */
type Fields = Readonly<Record<string, string>>;

interface Specified {
  readonly path: string;
  readonly method: string;
  readonly request?: Fields;
  readonly success: number;
  readonly result: Fields;
  /** The statuses in the specification. */
  readonly errors: readonly number[];
}

/** Sections 2 and 4 of the specification, for existing operations. */
const specified: Readonly<Record<string, Specified>> = {
  getHealth: {
    method: 'GET',
    path: '/health',
    success: 200,
    result: { status: 'string', message: 'string', timestamp: 'date-time?' },
    errors: [500],
  },
  initApplication: {
    method: 'POST',
    path: '/api/v1/client/init',
    request: { app_id: 'string', secret: 'string', version: 'string?' },
    success: 200,
    result: { status: 'string', session_id: 'string', app_name: 'string?', status_code: 'string?' },
    errors: [400, 401, 500],
  },
  verifySession: {
    method: 'POST',
    path: '/api/v1/client/verify-session',
    request: { token: 'string', app_id: 'string', hwid: 'string?' },
    success: 200,
    result: {
      status: 'string',
      valid: 'boolean',
      user_id: 'string',
      username: 'string?',
      expiry: 'date-time?',
      subscription_tier: 'string?',
    },
    errors: [400, 401, 403, 500],
  },
  loginUser: {
    method: 'POST',
    path: '/api/v1/client/login',
    request: { app_id: 'string', secret: 'string', username: 'string', password: 'string', hwid: 'string' },
    success: 200,
    result: {
      status: 'string',
      token: 'string',
      session_id: 'string',
      expiry: 'date-time?',
      user: 'object?',
    },
    errors: [400, 401, 403, 429, 500],
  },
  registerUser: {
    method: 'POST',
    path: '/api/v1/client/register',
    request: {
      app_id: 'string',
      secret: 'string',
      username: 'string',
      password: 'string',
      hwid: 'string',
      email: 'email?',
      license_key: 'string?',
    },
    success: 201,
    result: { status: 'string', message: 'string', user_id: 'string' },
    errors: [400, 409, 429, 500],
  },
  activateLicense: {
    method: 'POST',
    path: '/api/v1/client/activate',
    request: { app_id: 'string', secret: 'string', username: 'string', license_key: 'string' },
    success: 200,
    result: { status: 'string', message: 'string', subscription_tier: 'string?', expires_at: 'date-time' },
    errors: [400, 401, 404, 500],
  },
  logoutUser: {
    method: 'POST',
    path: '/api/v1/client/logout',
    request: { app_id: 'string', token: 'string' },
    success: 200,
    result: { status: 'string', message: 'string' },
    errors: [400, 401, 500],
  },
  listPlans: {
    method: 'GET',
    path: '/api/v1/client/plans',
    success: 200,
    result: { status: 'string', data: 'array' },
    errors: [500],
  },
  loginUserV2: {
    method: 'POST',
    path: '/api/v2/client/login',
    request: { app_id: 'string', username: 'string', password: 'string', hwid: 'string', nonce: 'string' },
    success: 200,
    result: { status: 'string', token: 'string', signature: 'string', expires_at: 'date-time?' },
    errors: [400, 401, 403, 429, 500],
  },
  authenticateSandbox: {
    method: 'POST',
    path: '/api/v1/sandbox/auth',
    request: { app_id: 'string', username: 'string', hwid: 'string' },
    success: 200,
    result: { status: 'string', sandbox: 'boolean', token: 'string', entitlements: 'object?' },
    errors: [400, 500],
  },
};

/**
 * The guidance for clients in the same section lists requests only. The responses are those of the related operations.
 */
const guidance: Readonly<Record<string, Specified>> = {
  loginWithLicense: {
    method: 'POST',
    path: '/api/v2/client/login-license',
    request: { app_id: 'string', license_key: 'string', hwid: 'string' },
    success: 200,
    result: specified['loginUserV2']!.result,
    // An unknown key is a 404, like for activation.
    errors: [400, 401, 403, 404, 429, 500],
  },
  verifySessionV2: {
    method: 'POST',
    path: '/api/v2/client/verify-session',
    request: { app_id: 'string', token: 'string' },
    success: 200,
    result: specified['verifySession']!.result,
    errors: [400, 401, 403, 500],
  },
  logoutUserV2: {
    method: 'POST',
    path: '/api/v2/client/logout',
    request: { app_id: 'string', session_token: 'string?', token: 'string?' },
    success: 200,
    result: specified['logoutUser']!.result,
    errors: [400, 401, 500],
  },
};

/** Not in the specification: the verification of sandbox sessions. */
const additional: Readonly<Record<string, Specified>> = {
  verifySandboxSession: {
    method: 'POST',
    path: '/api/v1/sandbox/verify-session',
    request: specified['verifySession']!.request!,
    success: 200,
    result: {
      status: 'string',
      sandbox: 'boolean',
      valid: 'boolean',
      user_id: 'string',
      username: 'string?',
      expiry: 'date-time?',
      entitlements: 'object?',
    },
    errors: [400, 401, 403, 429, 500],
  },
};

/** The operations of developers. */
const developersSide: readonly [string, string, string, number, Fields, Fields][] = [
  [
    'registerDeveloper',
    'POST',
    '/api/v2/dev/register',
    201,
    { email: 'email', password: 'password', name: 'string?' },
    { developer_id: 'string', token: 'string', expiry: 'date-time' },
  ],
  [
    'loginDeveloper',
    'POST',
    '/api/v2/dev/login',
    200,
    { email: 'email', password: 'password' },
    { token: 'string', expiry: 'date-time' },
  ],
  ['logoutDeveloper', 'POST', '/api/v2/dev/logout', 200, {}, { status: 'string', message: 'string' }],
  [
    'getDeveloper',
    'GET',
    '/api/v2/dev/me',
    200,
    {},
    { developer_id: 'string', email: 'email', plan: 'object', quotas: 'object', scopes: 'array' },
  ],
  [
    'createApiToken',
    'POST',
    '/api/v2/dev/tokens',
    201,
    { name: 'string', scopes: 'array', expires_at: 'date-time?' },
    { status: 'string', token_id: 'string', token: 'string' },
  ],
  ['listApiTokens', 'GET', '/api/v2/dev/tokens', 200, {}, { data: 'array', next_cursor: 'string' }],
  ['deleteApiToken', 'DELETE', '/api/v2/dev/tokens/{token_id}', 200, {}, { message: 'string' }],
  ['listAuditLog', 'GET', '/api/v2/dev/audit-log', 200, {}, { data: 'array', next_cursor: 'string' }],
  [
    'rotateApplicationSecret',
    'POST',
    '/api/v2/dev/apps/{app_id}/rotate-secret',
    200,
    { overlap_seconds: 'integer?' },
    { app_id: 'string', secret: 'string', previous_secret_until: 'date-time or null' },
  ],
  ['endSecretOverlap', 'DELETE', '/api/v2/dev/apps/{app_id}/previous-secret', 200, {}, { message: 'string' }],
  [
    'getStatistics',
    'GET',
    '/api/v2/dev/apps/{app_id}/statistics',
    200,
    {},
    { from: 'string', to: 'string', days: 'array', series: 'object' },
  ],
  [
    'createApplication',
    'POST',
    '/api/v2/dev/apps',
    201,
    { name: 'string' },
    { app_id: 'string', secret: 'string' },
  ],
  [
    'listApplications',
    'GET',
    '/api/v2/dev/apps',
    200,
    {},
    { status: 'string', data: 'array', next_cursor: 'string' },
  ],
  ['getApplication', 'GET', '/api/v2/dev/apps/{app_id}', 200, {}, { status: 'string' }],
  ['updateApplication', 'PATCH', '/api/v2/dev/apps/{app_id}', 200, {}, { status: 'string' }],
  ['deleteApplication', 'DELETE', '/api/v2/dev/apps/{app_id}', 200, {}, { status: 'string' }],
  [
    'createLicenses',
    'POST',
    '/api/v2/dev/apps/{app_id}/licenses',
    201,
    { amount: 'integer', duration_days: 'integer?', lifetime: 'boolean?', tier: 'string' },
    { licenses: 'array' },
  ],
  [
    'listLicenses',
    'GET',
    '/api/v2/dev/apps/{app_id}/licenses',
    200,
    {},
    { status: 'string', data: 'array', next_cursor: 'string' },
  ],
  [
    'createBan',
    'POST',
    '/api/v2/dev/apps/{app_id}/bans',
    201,
    {
      kind: 'string',
      username: 'string?',
      hwid: 'string?',
      network: 'string?',
      reason: 'string?',
      expires_at: 'date-time?',
    },
    { status: 'string', ban_id: 'string', kind: 'string', network: 'string or null' },
  ],
  [
    'listBans',
    'GET',
    '/api/v2/dev/apps/{app_id}/bans',
    200,
    {},
    { status: 'string', data: 'array', next_cursor: 'string' },
  ],
  [
    'deleteBan',
    'DELETE',
    '/api/v2/dev/apps/{app_id}/bans/{ban_id}',
    200,
    {},
    { status: 'string', message: 'string' },
  ],
];

const operation = (id: string) => operations.find(({ operationId }) => operationId === id)!;

/** The fields of a schema in the notation of the tables. */
function fieldsOf(schema: ContractSchema): Fields {
  const { required, properties } = shapeOf(schema);
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { type = 'object', format, nullable } = resolve(property);
      const kind = format === 'date-time' || format === 'email' || format === 'uri' ? format : type;
      if (nullable && required.includes(name) && kind !== 'integer' && name !== 'next_cursor')
        return [name, `${kind} or null`];
      return [name, required.includes(name) ? kind : `${kind}?`];
    }),
  );
}

/** Fields may be added to the specified ones only if they are optional. */
function expectFields(actual: Fields, wanted: Fields): void {
  expect(actual).toMatchObject(wanted);
  const more = Object.entries(actual).filter(([name]) => !Object.hasOwn(wanted, name));
  expect(more.filter(([, kind]) => !kind.endsWith('?'))).toEqual([]);
}

describe.each(Object.entries({ ...specified, ...guidance, ...additional }))(
  '%s is as specified',
  (id, wanted) => {
    test('by method and path', () => {
      expect(operation(id)).toMatchObject({ method: wanted.method, path: wanted.path });
    });

    test('by its request', () => {
      const body = operation(id).requestBody;
      if (!wanted.request) return expect(body).toBeUndefined();
      expectFields(fieldsOf(body!.schema), wanted.request);
    });

    test('by its result', () => {
      const { responses } = operation(id);
      expect(Object.keys(responses).filter((status) => status < '400')).toEqual([String(wanted.success)]);
      expect(Object.keys(responses[wanted.success]!)).toEqual(['application/json']);
      expectFields(fieldsOf(responses[wanted.success]!['application/json']!.schema), wanted.result);
    });

    test('by the statuses of its error codes', () => {
      const { codes, responses, takesKey } = operation(id);
      for (const status of wanted.errors) expect(Object.keys(responses)).toContain(String(status));
      const implied = [400, 401, 403, 413, 415, 426, 429, 503, ...(takesKey ? [409, 422] : [])];
      const allowed = [...wanted.errors, ...implied];
      const others = codes.filter(
        (code) => !catalog[code as ErrorCode].statuses.some((status) => allowed.includes(status)),
      );
      expect(others).toEqual([]);
    });
  },
);

test.each(developersSide)('%s has the agreed fields', (id, method, path, success, request, result) => {
  const found = operation(id);
  expect(found).toMatchObject({ method, path, bearer: !path.match(/dev\/(register|login)$/) });
  if (found.requestBody) {
    const wanted = Object.fromEntries(
      Object.entries(request).map(([name, kind]) => [name, kind === 'password' ? 'string' : kind]),
    );
    expectFields(fieldsOf(found.requestBody.schema), wanted);
  }
  expect(fieldsOf(found.responses[success]!['application/json']!.schema)).toMatchObject(result);
});

/** Paths of operations that are not in the specification. */
const ADDED = /^\/api\/(v2\/(dev|client|admin|payments)|v1\/agent)\//;

/** The specification defines no success for it. */
const NEVER_SUCCEEDS = 'getPaymentChallenge';

test('the payment challenge takes no input and is always a 402, as specified', () => {
  const found = operation(NEVER_SUCCEEDS);
  expect(found).toMatchObject({ method: 'GET', path: '/api/v1', parameters: [], requestBody: undefined });
  expect(Object.keys(found.responses)).toEqual(['400', '402', '500', '503']);
});

test('the contract has these operations, and others are additions to v2', () => {
  const known = [
    NEVER_SUCCEEDS,
    'createCheckout',
    ...Object.keys({ ...specified, ...guidance, ...additional }),
    ...developersSide.map(([id]) => id),
  ];
  const added = operations.filter(({ operationId }) => !known.includes(operationId));
  expect(operations.length).toBe(known.length + added.length);
  expect(added.map(({ path }) => path).filter((path) => !ADDED.test(path))).toEqual([]);
});

test('a checkout is as specified', () => {
  const found = operation('createCheckout');
  expect(found).toMatchObject({ method: 'POST', path: '/api/v1/checkout', bearer: true });
  expect(fieldsOf(found.requestBody!.schema)).toMatchObject({ plan_name: 'string', period: 'string?' });
  const response = fieldsOf(found.responses['200']!['application/json']!.schema);
  expect(response).toEqual({ status: 'string', url: 'uri', sessionId: 'string' });
});

test('listed plans are as specified, and contain what a pack adds', () => {
  const { properties } = shapeOf(operation('listPlans').responses['200']!['application/json']!.schema);
  expect(fieldsOf(properties['data']!.items!)).toEqual({
    id: 'string',
    name: 'string',
    price: 'number',
    currency: 'string?',
    period: 'string?',
    max_apps: 'integer',
    max_users_per_app: 'integer',
    features: 'array?',
    kind: 'string?',
    max_licenses: 'integer?',
    licenses: 'integer?',
    balance: 'number?',
  });
  const { period } = shapeOf(properties['data']!.items!).properties;
  expect(resolve(period!).enum).toEqual(['monthly', 'yearly', 'lifetime']);
});

test('the entitlements of the sandbox are as specified', () => {
  const { properties } = shapeOf(
    operation('authenticateSandbox').responses['200']!['application/json']!.schema,
  );
  expect(fieldsOf(properties['entitlements']!)).toEqual({ plan: 'string?', features: 'array?' });
  expect(resolve(properties['sandbox']!).enum).toEqual([true]);
});

test('operations of v2 accept signature headers, and the login requires them', () => {
  const headers = Object.fromEntries(
    operations
      .filter(({ signature }) => signature !== undefined)
      .map(({ operationId, signature, headers }) => [
        operationId,
        { signature, headers: headers.filter((name) => /^x-(signature|timestamp)/.test(name)) },
      ]),
  );
  const optional = {
    signature: 'optional',
    headers: ['x-signature?', 'x-timestamp?', 'x-signature-version?'],
  };
  expect(headers).toEqual({
    loginUserV2: { signature: 'required', headers: ['x-signature', 'x-timestamp', 'x-signature-version?'] },
    loginWithLicense: optional,
    verifySessionV2: optional,
    logoutUserV2: optional,
    resetHwid: optional,
  });
});

test('one operation is deprecated, with its date and successor', () => {
  const deprecated = operations.filter(({ deprecated }) => deprecated).map(({ operationId }) => operationId);
  expect(deprecated).toEqual(['loginUser']);
  expect(contract.paths['/api/v1/client/login'].post).toMatchObject({
    'x-deprecated-at': '2026-11-21T00:00:00.000Z',
    'x-successor': 'loginUserV2',
  });
});

test('rate limited operations declare it in statuses and codes', () => {
  const limited = operations.filter(({ rateLimit }) => rateLimit !== undefined);
  expect(Object.fromEntries(limited.map(({ operationId, rateLimit }) => [operationId, rateLimit]))).toEqual({
    loginUserV2: 'application',
    loginWithLicense: 'application',
    registerDevice: 'application',
    registerUserV2: 'application',
    loginWithPassword: 'application',
    activateLicenseV2: 'application',
    refreshSession: 'application',
    registerUser: 'application',
    loginUser: 'application',
    authenticateSandbox: 'sandbox',
    verifySandboxSession: 'sandbox',
    registerDeveloper: 'developers',
    loginDeveloper: 'developers',
    createBrowserSession: 'developers',
    requestPasswordReset: 'developers',
    resetDeveloperPassword: 'developers',
    resetHwid: 'application',
    registerAgent: 'agents',
    claimAgent: 'agents',
    revokeAgent: 'agents',
  });
  for (const { operationId, codes, responses } of limited) {
    expect(codes, operationId).toContain('TOO_MANY_REQUESTS');
    expect(Object.keys(responses), operationId).toContain('429');
  }
});

test("the user of a session has the specification's fields, all strings and none required", () => {
  const { properties } = shapeOf(operation('loginUser').responses['200']!['application/json']!.schema);
  expect(fieldsOf(properties['user']!)).toEqual({
    id: 'string?',
    username: 'string?',
    hwid: 'string?',
    role: 'string?',
  });
});

test('successes have the status success', () => {
  for (const { operationId, responses } of operations) {
    for (const [status, content] of Object.entries(responses)) {
      const json = content['application/json'];
      if (!status.startsWith('2') || !json) continue;
      const { properties } = shapeOf(json.schema);
      // auth.md defines the status of a claim.
      const statuses = operationId === 'claimAgent' ? ['initiated', 'claimed'] : ['success'];
      expect(resolve(properties['status']!).enum, operationId).toEqual(statuses);
    }
  }
});

test('all successes declare their content', () => {
  for (const { operationId, responses } of operations) {
    const successes = Object.entries(responses).filter(([status]) => status < '300');
    if (operationId === NEVER_SUCCEEDS) continue;
    expect(successes.length, operationId).toBeGreaterThan(0);
    for (const [status, content] of successes) {
      expect(Object.keys(content), `${operationId} ${status}`).toHaveLength(1);
    }
  }
});

test('operations of developers that create a resource accept a key', () => {
  for (const { operationId, method, path, bearer, takesKey, codes, responses } of operations) {
    if (!path.startsWith('/api/v2/dev/') || !bearer) continue;
    if (takesKey) {
      expect(codes, operationId).toContain('IDEMPOTENCY_KEY_IN_USE');
      expect(codes, operationId).toContain('IDEMPOTENCY_KEY_REUSED');
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(['409', '422']));
    }
    const makes = method === 'POST' && Object.keys(responses).includes('201');
    if (makes) expect(takesKey, operationId).toBe(true);
  }
});

test('active is a status of an application', () => {
  const { schema, example } = operation('initApplication').responses['200']!['application/json']!;
  expect(shapeOf(schema).properties['status_code']!.enum ?? ['active']).toContain('active');
  expect(example).toMatchObject({ status_code: 'active' });
});

describe('the error models', () => {
  const models: Readonly<Record<string, Fields>> = {
    ProblemDetails: {
      type: 'uri',
      title: 'string',
      status: 'integer',
      detail: 'string',
      instance: 'string?',
      code: 'string?',
      hint: 'string?',
      docs_url: 'uri?',
      timestamp: 'date-time?',
    },
  };

  test.each(Object.entries(models))('%s has the specified fields', (name, wanted) => {
    const schema = contract.components.schemas[name as 'ProblemDetails'] as ContractSchema;
    expectFields(fieldsOf(schema), wanted);
  });

  test('the legacy model, which clients request by name, has the specified fields', () => {
    const { media_type: mediaType, schema } = contract['x-legacy-error'];
    expectFields(fieldsOf(schema), {
      status: 'string',
      error: 'string',
      code: 'integer',
      message: 'string',
      hint: 'string',
      docs_url: 'uri',
      type: 'uri',
      timestamp: 'date-time',
    });
    expect(schema.properties.status.enum).toEqual(['fail', 'error']);
    expect(contract.tags.find(({ name }) => name === 'Errors')!.description).toContain(mediaType);
  });

  test('every error of every operation is a problem', () => {
    for (const { operationId, responses } of operations) {
      for (const [status, content] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        expect(Object.keys(content), `${operationId} ${status}`).toEqual(['application/problem+json']);
        expect(content['application/problem+json']!.schema.$ref).toBe('#/components/schemas/ProblemDetails');
      }
    }
  });
});
