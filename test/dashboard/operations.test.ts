import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Operation {
  readonly operationId: string;
  readonly 'x-bearer-token'?: string;
  readonly 'x-same-origin'?: boolean;
}

const { paths } = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

const CONSOLE_TOKENS = ['developer', 'reseller', 'administrator'];

/** Where operations are that need no token, such as those that sign someone in or create an account. */
const CONSOLE_PATH = /^\/api\/v2\/(dev|admin)\//;

/** The operations of developers, resellers and the administrator, such as `GET /api/v2/dev/apps`. */
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(
      ([, { operationId, 'x-bearer-token': token = '' }]) =>
        operationId !== undefined && (CONSOLE_TOKENS.includes(token) || CONSOLE_PATH.test(path)),
    )
    .map(([method, { operationId }]) => ({ operationId, route: `${method.toUpperCase()} ${path}` })),
);

const FOLDER = 'generated/dashboard/assets';
/** What is loaded from the first page on. Sources that no page uses are not in it. */
const built = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.js'))
  .map((name) => readFileSync(`${FOLDER}/${name}`, 'utf8'))
  .join('\n');

/** Operations that no page needs, and why. */
const WITHOUT_PAGE: Readonly<Record<string, string>> = {
  createLicensesAsCsv: 'the page saves the keys that it shows as CSV',
  deleteUnusedLicenses: 'deleteLicenses does it for the list of unused keys, with a preview and progress',
  listApplicationSigningKeys: 'builds of programs read the keys that they pin with an API token',
  rotateApplicationSigningKeys: 'a rotation belongs to the release of a program, and runs with an API token',
  retireApplicationSigningKey: 'the same as a rotation',
  streamEvents: 'streamAccountEvents brings the events of all applications in one stream',
  loginDeveloper: 'it returns a token; the page starts a browser session',
  requestPasswordReset: 'the page /account/password of the service does it, for those who are not signed in',
  resetDeveloperPassword: 'the page /account/password of the service does it, with the link of the email',
  logoutDeveloper: 'it ends the session of a token; the page ends its own browser session',
};

test('every operation of the consoles is reached by a page, or is listed with a reason', () => {
  const isUsed = (route: string) => ['"', "'", '`'].some((quote) => built.includes(route + quote));
  const missing = operations.filter(({ route }) => !isUsed(route)).map(({ operationId }) => operationId);
  expect(operations.length).toBeGreaterThan(150);
  expect(missing.toSorted()).toEqual(Object.keys(WITHOUT_PAGE).toSorted());
});
