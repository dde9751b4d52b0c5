import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { sources } from './sources.ts';

const LINES = 120;

/** The functions that are longer: most create an object with many short methods. This list only shrinks. */
const LONGER: readonly string[] = [
  'src/access/oauth/adapter.ts createAdapterFactory',
  'src/access/oauth/authorization-server.ts createAuthorizationServer',
  'src/access/oauth/clients.ts createOAuthClients',
  'src/access/oauth/interactions.ts createInteractions',
  'src/accounts/plans/plans.ts createPlans',
  'src/foundation/metrics/metrics.ts createMetrics',
  'src/foundation/signing-keys/signing-keys.ts loadSigningKeys',
  'src/http/mcp/endpoint.ts createMcpEndpoint',
  'src/licensing/files/files.ts createFiles',
  'src/licensing/licenses/changes.ts createLicenseChanges',
  'src/licensing/licenses/extension.ts createLicenseExtension',
  'src/licensing/moderation/moderation.ts createModeration',
  'src/licensing/users/logins.ts createLogins',
  'src/licensing/users/user-imports.ts createUserImports',
  'src/licensing/users/user-management.ts createUserManagement',
  'src/licensing/variables/variables.ts createVariables',
  'src/messaging/delivery/delivery.ts startDeliveryQueue',
  'src/messaging/realtime/realtime.ts createRealtime',
  'src/messaging/realtime/session-rechecks.ts createSessionRechecks',
  'src/messaging/webhooks/deliveries.ts createDeliveries',
  'src/messaging/webhooks/webhooks.ts createWebhooks',
  'src/migrations/20261122080000_create_test_processor.ts up',
  'src/migrations/20261122080300_sell_plans.ts up',
  'src/migrations/20261123000100_create_agents.ts up',
  'src/platform/jobs/queue-worker.ts createQueueWorker',
];

/** The name of a function, or of what it is assigned to. */
function nameOf(node: ts.FunctionLikeDeclaration): string {
  const named =
    node.name ??
    (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent)
      ? node.parent.name
      : undefined);
  return named?.getText() ?? '(anonymous)';
}

function longFunctionsOf(file: string, text: string): string[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line;
  const found: string[] = [];
  function visit(node: ts.Node): void {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = lineOf(node.end) - lineOf(node.getStart(tree)) + 1;
      if (lines > LINES) found.push(`${file} ${nameOf(node as ts.FunctionLikeDeclaration)}`);
    }
    ts.forEachChild(node, visit);
  }
  visit(tree);
  return found;
}

test('a function of more than 120 lines is found, a shorter one is not', () => {
  const withLines = (lines: number) => `export function long() {\n${'  work();\n'.repeat(lines - 2)}}\n`;
  expect(longFunctionsOf('x.ts', withLines(LINES))).toEqual([]);
  expect(longFunctionsOf('x.ts', withLines(LINES + 1))).toEqual(['x.ts long']);
});

test('functions have at most 120 lines', () => {
  const long = sources.flatMap(({ file }) => longFunctionsOf(file, readFileSync(file, 'utf8'))).sort();
  expect(long).toEqual([...LONGER].sort());
});
