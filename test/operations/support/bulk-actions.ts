import { expect, test } from 'vitest';
import contract from '../../../generated/openapi.json' with { type: 'json' };
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import type { TestService } from '../../support/service.ts';
import { expectError, expectFaults } from './errors.ts';
import { redeemed } from './licenses.ts';

type Schemas = components['schemas'];
export type LicensesOutcome = Schemas['ChangeLicensesResult'] & { readonly banned_users?: number };
export type UsersOutcome = Schemas['ChangeUsersResult'];

/** Calls a bulk operation on the licenses or the users of an application. */
export function callBulk<Outcome = LicensesOutcome & UsersOutcome>(
  { api }: Pick<TestService, 'api'>,
  { app_id, token }: Pick<App, 'app_id' | 'token'>,
  path: string,
  body: object,
  headers: Record<string, string> = {},
) {
  return api.call<Outcome>('POST', `/api/v2/dev/apps/${app_id}/${path}`, body, { token, headers });
}

/** Texts that name nothing, however they are normalized or compared. */
const NOTHING = [
  ' ',
  '\u00a0',
  '\u3000',
  '\ufeff',
  '\u2800',
  ' \u2003 ',
  '%',
  '_',
  '%%%',
  '*',
  '.*',
  '""',
  'null',
];

/** The members of a filter that may have any text. */
const textsOf = ({ properties }: { readonly properties: Readonly<Record<string, object>> }) =>
  Object.entries(properties).flatMap(([name, schema]) => {
    const { type, format, enum: values } = resolved(schema);
    return type === 'string' && !format && !values ? [name] : [];
  });

function resolved(schema: object): { type?: string; format?: string; enum?: unknown } {
  const name = '$ref' in schema ? String(schema.$ref).split('/').at(-1)! : undefined;
  return name
    ? resolved(contract.components.schemas[name as keyof typeof contract.components.schemas])
    : schema;
}

/** Tests that hold for every bulk operation. @param path such as `users/ban` */
export function testBulkAction(service: TestService, path: string): void {
  const { api } = service;
  const ids = path.startsWith('users') ? 'user_ids' : 'license_ids';
  const [prefix, code] = path.startsWith('users') ? ['usr', 'USER_NOT_FOUND'] : ['lic', 'LICENSE_NOT_FOUND'];
  const absent = `${prefix}_01kazm6t0hfa8bk4n2q7r9s1vx`;
  const id = path.startsWith('users') ? 'user_id' : 'license_id';

  test('unknown ids and those of another application are not changed', async () => {
    const { status, body } = await callBulk(service, await newApp(api), path, {
      [ids]: [absent, absent, 'x'],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'success',
      dry_run: false,
      matched: 0,
      changed: 0,
      next_cursor: null,
    });
    expect(body.unchanged).toEqual(
      expect.arrayContaining([
        { [id]: absent, code },
        { [id]: 'x', code },
      ]),
    );
  });

  test('an application without any', async () => {
    const { body } = await callBulk(service, await newApp(api), path, { all: true });
    expect(body).toMatchObject({ matched: 0, changed: 0, unchanged: [], next_cursor: null });
  });

  test('VALIDATION_FAILED', async () => {
    const app = await newApp(api);
    const refused = async (body: object, ...pointers: string[]) =>
      expectFaults(await callBulk(service, app, path, body), ...pointers);
    await refused({ [ids]: [] }, `/${ids}`);
    await refused({ [ids]: Array.from({ length: 1001 }, (_, n) => `${prefix}_${n}`) }, `/${ids}`);
    await refused({ [ids]: ['\u0000'] }, `/${ids}/0`);
    expectError(await callBulk(service, app, path, { all: false }), 400, 'VALIDATION_FAILED');
    // A misspelled member must not select more or make a dry run real.
    await refused({ filter: {} }, '/filter');
    await refused({ filter: { statsu: 'unused' } }, '/filter/statsu');
    await refused(
      { filter: { tier: 'Pro', created_untill: '2020-01-01T00:00:00Z' } },
      '/filter/created_untill',
    );
    await refused({ all: true, dryRun: true }, '/dryRun');
    await refused({ all: true, cursor: 'nonsense' }, '/cursor');
    await refused({ [ids]: [absent], cursor: 'nonsense' }, '/cursor');
    expectError(await callBulk(service, app, path, {}), 400, 'VALIDATION_FAILED');
    expectError(await callBulk(service, app, path, { [ids]: [absent], all: true }), 400, 'VALIDATION_FAILED');
  });

  test('a filter that names nothing selects nothing', async () => {
    const app = await newApp(api);
    await redeemed(api, app);
    await app.keys(1);
    const { UserFilter, LicenseFilter } = contract.components.schemas;
    const texts = textsOf(path.startsWith('users') ? UserFilter : LicenseFilter);
    expect(texts).toContain('q');
    for (const member of texts) {
      for (const text of NOTHING) {
        const filter = { [member]: text };
        const { status, body } = await callBulk(service, app, path, { filter, dry_run: true });
        expect([200, 400], JSON.stringify(filter)).toContain(status);
        expect(body.matched ?? 0, JSON.stringify(filter)).toBe(0);
      }
    }
  });

  test('an Idempotency-Key is ignored, because it would make one transaction of all steps', async () => {
    const app = await newApp(api);
    const headers = { 'idempotency-key': 'repeated' };
    for (const body of [{ all: true }, { [ids]: [absent] }]) {
      const response = await callBulk(service, app, path, body, headers);
      expect(response.status).toBe(200);
      expect(response.headers.get('idempotency-replayed')).toBeNull();
    }
  });

  test('APPLICATION_NOT_FOUND', async () => {
    const app = await newApp(api);
    const { token } = await newDeveloper(api);
    expectError(
      await callBulk(service, { ...app, token }, path, { all: true }),
      404,
      'APPLICATION_NOT_FOUND',
    );
  });
}

/** The events of a type of an application that are not published yet, and the audit entries about it. */
export async function recorded(service: TestService, { app_id }: App, type: string) {
  const database = await connectTo(service.databaseUrl);
  const { rows: events } = await database.query<{ data: Record<string, unknown>; user_id: string | null }>(
    'select data, user_id from events where app_id = $1 and type = $2',
    [app_id, type],
  );
  const { rows: entries } = await database.query<{ target: string; data: Record<string, unknown> }>(
    'select target, data from audit_log where app_id = $1 and action = $2 order by target',
    [app_id, type],
  );
  return { events, entries };
}
