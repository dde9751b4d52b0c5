import { toolsOf } from '../src/http/mcp/tools.ts';
import { type Contract } from './generate/document.ts';

/** The marks that the service or its tests use. */
const KNOWN = new Set([
  'x-accepts-payment',
  'x-also-accepts',
  'x-bearer-token',
  'x-deprecated-at',
  'x-error-codes',
  'x-enum-varnames',
  'x-exactly-one-of',
  'x-format',
  'x-device-signature',
  'x-hashes-password',
  'x-spends-nonce',
  'x-ignores-query',
  'x-legacy-error',
  'x-login',
  'x-max-bytes',
  'x-max-bytes-setting',
  'x-mcp-tool',
  'x-name',
  'x-not-delegated',
  'x-pattern',
  'x-payment-info',
  'x-rate-limit',
  'x-redact',
  'x-same-origin',
  'x-scopes',
  'x-signature',
  'x-successor',
  'x-time-limit',
  'x-traitTag',
]);
/** Below these, authors choose the names. */
const NAMES = new Set(['properties', 'headers', 'content', 'schemas', 'parameters', 'responses', 'examples']);

/** Unknown marks, such as misspelled ones, and operations marked as tools that cannot be tools. */
export function faultyMarks(contract: Contract): string[] {
  const found: string[] = [];

  function visit(node: unknown, path: string, hasNames: boolean): void {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'example' && !hasNames) continue;
      if (key.startsWith('x-') && !hasNames && !KNOWN.has(key)) found.push(`${path}/${key}: is unknown`);
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
