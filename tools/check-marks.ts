import { parseArgs } from 'node:util';
import { toolsOf } from '../src/http/mcp/tools.ts';
import { type Contract } from './generate/document.ts';
import { readContract } from './generate/bundle.ts';

/** The marks that the service or its tests act upon. */
const KNOWN = new Set([
  'x-deprecated-at',
  'x-error-codes',
  'x-hashes-password',
  'x-ignores-query',
  'x-max-bytes',
  'x-mcp-tool',
  'x-name',
  'x-not-delegated',
  'x-payment-info',
  'x-rate-limit',
  'x-redact',
  'x-scopes',
  'x-signature',
  'x-successor',
  'x-time-limit',
]);
/** Names of one's own choice are below these. */
const NAMES = new Set(['properties', 'headers', 'content', 'schemas', 'parameters', 'responses', 'examples']);

/** Marks that nobody knows, such as misspelt ones, and operations that cannot be the tools that they are marked as. */
export function faultyMarks(contract: Contract): string[] {
  const found: string[] = [];

  function visit(node: unknown, path: string, hasNames: boolean): void {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'example' && !hasNames) continue;
      if (key.startsWith('x-') && !hasNames && !KNOWN.has(key)) found.push(`${path}/${key}: nobody knows it`);
      visit(value, `${path}/${key.replaceAll('/', '~1')}`, !hasNames && NAMES.has(key));
    }
  }

  visit(contract, '#', false);
  try {
    toolsOf(contract);
  } catch (error) {
    found.push((error as Error).message);
  }
  return found;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { contract: { type: 'string', default: 'openapi.yaml' } } });
  const found = faultyMarks(await readContract(values.contract));
  for (const fault of found) console.error(`mark: ${fault}`);
  if (found.length > 0) process.exitCode = 1;
}
