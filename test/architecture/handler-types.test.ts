import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { operations } from '../contract/operations.ts';
import { sources } from './sources.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Handlers next to the real ones, and their expected diagnostics. */
const snippets: Readonly<Record<string, { readonly code: string; readonly faults: readonly RegExp[] }>> = {
  'a correct handler compiles': {
    code: `export const handler: Handler<'logoutUser'> = async ({ body }, { sessions }) => {
      await sessions.logout(body.app_id, body.token, { signed: false, trust: undefined });
      return { status: 200, body: { status: 'success', message: 'Session ended.' } };
    };`,
    faults: [],
  },
  'an optional field can be missing': {
    code: `export const handler: Handler<'getHealth'> = async () => ({
      status: 200, body: { status: 'success', message: 'operational' },
    });`,
    faults: [],
  },
  'a missing field': {
    code: `export const handler: Handler<'logoutUser'> = async () => ({ status: 200, body: { status: 'success' } });`,
    faults: [/Property 'message' is missing/],
  },
  'a missing field of an item': {
    code: `export const handler: Handler<'listResellerPrices'> = async () => ({
      status: 200, body: { status: 'success', data: [
        { app_id: 'a', app_name: 'A', tier: 't', duration_days: null, lifetime: true, price: 1 },
      ] },
    });`,
    faults: [/Property 'cost' is missing/],
  },
  'a status that the contract does not declare': {
    code: `export const handler: Handler<'logoutUser'> = async () => ({
      status: 202, body: { status: 'success', message: 'Later.' },
    });`,
    faults: [/Type '202' is not assignable to type '200'/],
  },
  'an error status: errors are thrown': {
    code: `export const handler: Handler<'logoutUser'> = async () => ({
      status: 401, body: { status: 'success', message: 'No.' },
    });`,
    faults: [/Type '401' is not assignable to type '200'/],
  },
  'the status of another operation': {
    code: `export const handler: Handler<'registerUser'> = async () => ({
      status: 200, body: { status: 'success', message: 'm', user_id: 'u' },
    });`,
    faults: [/Type '200' is not assignable to type '201'/],
  },
  'a wrong type': {
    code: `export const handler: Handler<'registerUser'> = async () => ({
      status: 201, body: { status: 'success', message: 'm', user_id: 7 },
    });`,
    faults: [/Type 'number' is not assignable to type 'string'/],
  },
  'a Date instead of its text': {
    code: `export const handler: Handler<'getHealth'> = async () => ({
      status: 200, body: { status: 'success', message: 'operational', timestamp: new Date(0) },
    });`,
    faults: [/Type 'Date' is not assignable to type 'string/],
  },
  'a value that is not in the list': {
    code: `export const handler: Handler<'verifySession'> = async () => ({
      status: 200, body: { status: 'success', valid: true, user_id: 'u', subscription_status: 'none' },
    });`,
    faults: [/Type '"none"' is not assignable to type '"active" \| "expired"/],
  },
  'null where the contract has none': {
    code: `export const handler: Handler<'activateLicense'> = async () => ({
      status: 200, body: { status: 'success', message: 'm', expires_at: null },
    });`,
    faults: [/Type 'null' is not assignable to type 'string'/],
  },
  'a member that the request does not have': {
    code: `export const handler: Handler<'logoutUser'> = async ({ body }) => ({
      status: 200, body: { status: 'success', message: body.session_token },
    });`,
    faults: [/Property 'session_token' does not exist/],
  },
  'an optional member that is treated as required': {
    code: `export const handler: Handler<'initApplication'> = async ({ body }) => ({
      status: 200, body: { status: 'success', session_id: body.version.trim() },
    });`,
    faults: [/'body.version' is possibly 'undefined'/],
  },
  'a body where none is declared': {
    code: `export const handler: Handler<'getHealth'> = async ({ body }) => ({
      status: 200, body: { status: 'success', message: body.text },
    });`,
    faults: [/'body' is possibly 'undefined'|does not exist on type 'never'|Object is possibly/],
  },
  'a signer where signatures are required': {
    code: `export const handler: Handler<'loginUserV2'> = async ({ signer }) => ({
      status: 200, body: signer.sign({ status: 'success', token: 't' }, 'a nonce'),
    });`,
    faults: [],
  },
  'a signer that is treated as required where signatures are optional': {
    code: `export const handler: Handler<'logoutUserV2'> = async ({ signer }) => ({
      status: 200, body: signer.sign({ status: 'success', message: 'm' }, 'a nonce'),
    });`,
    faults: [/'signer' is possibly 'undefined'/],
  },
  'an operation that is not in the contract': {
    code: `export const handler: Handler<'loginRobot'> = async () => ({ status: 200, body: {} as never });`,
    faults: [/Type '"loginRobot"' does not satisfy the constraint/],
  },
  'a registry that lacks an operation': {
    code: `import { handlers } from './registry.ts';
      const { getHealth: _left, ...rest } = handlers;
      export const incomplete: Handlers = rest;`,
    faults: [/Property 'getHealth' is missing/],
  },
};

const folder = join(root, 'handlers');
const files = new Map(
  Object.entries(snippets).map(([name, { code }], index) => [
    join(folder, `snippet-${index}.ts`),
    {
      name,
      text: `import type { Handler, Handlers } from './handler.ts';\nexport type Used = Handlers;\n${code}\n`,
    },
  ]),
);

/** Compiles all snippets in one program with the settings of the repository. */
function diagnose(): Map<string, string[]> {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root, undefined, 'tsconfig.json');
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists.call(host, file);
  host.readFile = (file) => files.get(file)?.text ?? readFile.call(host, file);
  host.getSourceFile = (file, ...rest) => {
    const snippet = files.get(file);
    return snippet
      ? ts.createSourceFile(file, snippet.text, ts.ScriptTarget.ES2024)
      : getSourceFile.call(host, file, ...rest);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return new Map(
    [...files].map(([file, { name }]) => {
      const source = program.getSourceFile(file)!;
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return [name, found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))];
    }),
  );
}

describe('a handler that disagrees with the contract does not compile', () => {
  const diagnostics = diagnose();

  test.each(Object.entries(snippets))('%s', (name, { faults }) => {
    const found = diagnostics.get(name)!;
    if (faults.length === 0) return expect(found).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
    for (const fault of faults) expect(found.join('\n')).toMatch(fault);
  });
});

describe('a handler adapts, calls and returns', () => {
  const operationFiles = operations.map(({ operationId, tag }) => ({
    operationId,
    file: `handlers/${tag.toLowerCase()}/${operationId}.ts`,
  }));
  const handlers = sources.filter(({ file }) => file.startsWith('handlers/'));

  test('each operation has a handler with its name in the folder of its tag', () => {
    const found = handlers.map(({ file }) => file);
    for (const { file } of operationFiles) expect(found).toContain(file);
    const helpers = found.filter((file) => !operationFiles.some((operation) => operation.file === file));
    expect(helpers).toEqual([
      'handlers/administration/developer.ts',
      'handlers/administration/installation.ts',
      'handlers/administration/plan.ts',
      'handlers/administration/signing-key.ts',
      'handlers/agents/agent.ts',
      'handlers/agents/security-event-receiver.ts',
      'handlers/applications/application.ts',
      'handlers/applications/signing-key.ts',
      'handlers/attachment.ts',
      'handlers/audit/audit-log.ts',
      'handlers/bans/ban.ts',
      'handlers/billing/invoice.ts',
      'handlers/billing/subscription.ts',
      'handlers/client/cached.ts',
      'handlers/client/device-session.ts',
      'handlers/client/handshake.ts',
      'handlers/client/redemption.ts',
      'handlers/client/registration.ts',
      'handlers/client/session-result.ts',
      'handlers/client/signed-result.ts',
      'handlers/client/verification.ts',
      'handlers/developers/browser-session.ts',
      'handlers/developers/developer-session.ts',
      'handlers/events/event.ts',
      'handlers/files/content.ts',
      'handlers/files/file.ts',
      'handlers/handler.ts',
      'handlers/index.ts',
      'handlers/licenses/duration.ts',
      'handlers/licenses/license.ts',
      'handlers/licenses/selection.ts',
      'handlers/oauth/client.ts',
      'handlers/page.ts',
      'handlers/registry.ts',
      'handlers/reseller/account.ts',
      'handlers/resellers/reseller.ts',
      'handlers/resellers/sales.ts',
      'handlers/sandbox/entitlements.ts',
      'handlers/statistics/application-overview.ts',
      'handlers/statistics/license-counts.ts',
      'handlers/statistics/series.ts',
      'handlers/tokens/api-token.ts',
      'handlers/users/selection.ts',
      'handlers/users/session.ts',
      'handlers/users/user.ts',
      'handlers/variables/variable.ts',
      'handlers/webhooks/delivery.ts',
      'handlers/webhooks/webhook.ts',
    ]);
  });

  test.each(operationFiles)('$operationId has at most 35 lines and one export', ({ operationId, file }) => {
    const { code } = handlers.find((source) => source.file === file)!;
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(35);
    expect(code.match(/^export /gm)).toHaveLength(1);
    expect(code).toContain(`export const ${operationId}: Handler<'${operationId}'> = async (`);
  });

  test.each(operationFiles)('$operationId has no transactions, logs, errors or casts', ({ file }) => {
    const { code } = handlers.find((source) => source.file === file)!;
    expect(code).not.toMatch(
      /\b(try|catch|throw|response|res|transaction|trx|logger|console|process|knex)\b/,
    );
    expect(code).not.toMatch(/Date\.now|new Date\(\)|\bas (?!const\b)|\bany\b|@ts-|!\.|\.catch\(/);
  });

  test('handlers/index.ts names each operation once, and nothing else', () => {
    const { code, imports } = handlers.find(({ file }) => file === 'handlers/index.ts')!;
    expect([...imports].sort()).toEqual(operationFiles.map(({ file }) => file).sort());
    const lines = code.split('\n').filter((line) => line.trim() !== '');
    for (const line of lines) expect(line).toMatch(/^export \* from '[^']+';$/);
  });

  test('the tests mirror the handlers', () => {
    const folder = dirname(dirname(fileURLToPath(import.meta.url)));
    for (const { file } of operationFiles) {
      const mirrored = join(folder, file.replace('handlers/', 'operations/').replace('.ts', '.test.ts'));
      expect(ts.sys.fileExists(mirrored), mirrored).toBe(true);
    }
  });
});
