import { getHttpOperationsFromSpec } from '@stoplight/prism-http/dist/utils/operations.js';
import { validateOutput } from '@stoplight/prism-http/dist/validator/index.js';
import { expect } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { catalog, type CatalogEntry } from '../../src/foundation/errors/catalog.ts';
import { generalCodesOf } from '../../tools/errors-by-status.ts';
import { legacyValidator, responseHeaders, responseValidators } from './response-validators.ts';

export interface Exchange {
  readonly method: string;
  /** Includes the query string. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface ContractOperation {
  readonly operationId: string;
  readonly 'x-bearer-token'?: string;
  readonly 'x-error-codes'?: readonly string[];
  /** Media types of requests that the contract does not declare, with the status of their success. */
  readonly 'x-also-accepts'?: Readonly<Record<string, string>>;
}

const prismOperations = new Map(
  (await getHttpOperationsFromSpec(structuredClone(contract))).map((each) => [each.iid, each]),
);

const { media_type: LEGACY, schema: legacySchema } = contract['x-legacy-error'];
const isLegacyError = legacyValidator(legacySchema);

/** What a response must not reveal. */
const LEAK = /\bat .*\.ts:\d|select |insert |node_modules/i;

/** The paths of the contract by their number of segments, to look up requests. */
const templates = Map.groupBy(
  Object.entries(contract.paths).map(([template, item]) => ({
    template,
    pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`),
    item: item as Record<string, unknown>,
  })),
  ({ template }) => template.split('/').length,
);

/** The operation of a request, or undefined if it is not in the contract. */
export function operationOf(method: string, path: string): ContractOperation | undefined {
  const bare = path.split('?', 1)[0]!;
  const found = templates.get(bare.split('/').length)?.find(({ pattern }) => pattern.test(bare));
  return found?.item[method.toLowerCase()] as ContractOperation | undefined;
}

/** Fails the test unless a condition holds. Tests check every exchange, and an assertion of vitest costs much more. */
function check(holds: boolean, what: string): void {
  if (!holds) expect.fail(what);
}

/**
 * Checks an exchange against the contract: declared status, media type, headers, body and error code, with our
 * generated validators and with Prism's.
 */
export function expectContract(exchange: Exchange): void {
  const operation = operationOf(exchange.method, exchange.path);
  const mediaType = exchange.headers.get('content-type')?.split(';')[0] ?? '';
  const where = `${exchange.method} ${exchange.path} -> ${exchange.status} ${mediaType} ${exchange.text.slice(0, 500)}`;
  const body = bodyOf(exchange);
  if (exchange.status >= 400) expectProblem(exchange, body, mediaType, operation, where);
  if (!operation) return;

  const resource = prismOperations.get(operation.operationId)!;
  const validators = responseValidators[operation.operationId]!;
  const status = statusOf(exchange.status, Object.keys(validators));
  const declared = validators[status];
  const response = resource.responses.find(({ code }) => code === status);
  if (!declared || !response) {
    const others = Object.values(operation['x-also-accepts'] ?? {});
    check(others.includes(status) && body === undefined, `undeclared status: ${where}`);
    return;
  }
  const { contents = [] } = response;
  if (mediaType === LEGACY) {
    check(isLegacyError(body), `${JSON.stringify(isLegacyError.errors)}: ${where}`);
  } else if (exchange.method !== 'HEAD' && contents.length > 0) {
    check(
      contents.some((content) => content.mediaType === mediaType),
      `undeclared media type: ${where}`,
    );
    const validate = declared[mediaType];
    if (validate) check(validate(body), `${JSON.stringify(validate.errors)}: ${where}`);
  }
  for (const [name, required] of Object.entries(responseHeaders[operation.operationId]?.[status] ?? {})) {
    check(!required || exchange.headers.has(name), `header ${name}: ${where}`);
  }

  if (!mediaType.endsWith('json') || mediaType === LEGACY) return;
  // Prism accepts application/json for application/problem+json, so it gets the content of the exact type only.
  const exact = { ...response, contents: contents.filter((content) => content.mediaType === mediaType) };
  if (status.endsWith('XX')) exact.code = String(exchange.status);
  const violations = validateOutput({
    resource: { ...resource, responses: [exact] },
    element: { statusCode: exchange.status, headers: Object.fromEntries(exchange.headers), body },
  });
  if ('left' in violations) expect(violations.left, `Prism: ${where}`).toEqual([]);
}

/** The status of a response as the contract declares it: errors are `4XX` or `5XX`, unless their status is declared. */
function statusOf(status: number, declared: readonly string[]): string {
  if (status < 400 || declared.includes(String(status))) return String(status);
  return `${Math.floor(status / 100)}XX`;
}

/** A parsed body: JSON, or else text. */
export function bodyOf({ headers, text }: Pick<Exchange, 'headers' | 'text'>): unknown {
  if (text === '') return undefined;
  return /^application\/([\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}

/** Checks that apply to every error, of an operation or not. */
function expectProblem(
  exchange: Exchange,
  body: unknown,
  mediaType: string,
  operation: ContractOperation | undefined,
  where: string,
): void {
  const problem = mediaType === 'application/problem+json';
  check(problem || mediaType === LEGACY, `media type of an error: ${where}`);
  if (exchange.status === 429 || exchange.status === 503) {
    check(/^[1-9]\d*$/.test(exchange.headers.get('retry-after') ?? ''), `Retry-After: ${where}`);
  }
  const {
    code,
    error,
    status,
    docs_url: page,
    type,
    request_id: requestId,
  } = body as Record<string, unknown>;
  const name = String(problem ? code : error);
  check((problem ? status : code) === exchange.status, `status in the body: ${where}`);
  check(Object.hasOwn(catalog, name), `unknown code: ${where}`);
  const entry = (catalog as Record<string, CatalogEntry>)[name]!;
  check(entry.statuses.includes(exchange.status), `status of the code: ${where}`);
  check(requestId === exchange.headers.get('x-request-id'), `request_id: ${where}`);
  check(type === (entry.type ?? page), `type: ${where}`);
  const codes = operation && [...generalCodesOf(operation), ...(operation['x-error-codes'] ?? [])];
  check(codes?.includes(name) ?? true, `undeclared code: ${where}`);
  check(!LEAK.test(exchange.text), `leak: ${where}`);
}
