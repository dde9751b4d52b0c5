import { getHttpOperationsFromSpec } from '@stoplight/prism-http/dist/utils/operations.js';
import { validateOutput } from '@stoplight/prism-http/dist/validator/index.js';
import type { IHttpOperation } from '@stoplight/types';
import { expect } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { catalog, type CatalogEntry } from '../../src/foundation/errors/catalog.ts';
import { responseHeaders, responseValidators } from './response-validators.ts';

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
  readonly 'x-error-codes'?: readonly string[];
}

const prismOperations = await getHttpOperationsFromSpec(structuredClone(contract));

/** Codes that every operation may return. */
const GENERAL_CODES = [
  'VALIDATION_FAILED',
  'MALFORMED_JSON',
  'MALFORMED_REQUEST',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];

/** The paths of the contract, to look up requests. */
const templates = Object.entries(contract.paths).map(([template, item]) => ({
  pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`),
  item: item as Record<string, unknown>,
}));

/** The operation of a request, or undefined if it is not in the contract. */
export function operationOf(method: string, path: string): ContractOperation | undefined {
  const bare = path.split('?', 1)[0]!;
  const found = templates.find(({ pattern }) => pattern.test(bare));
  return found?.item[method.toLowerCase()] as ContractOperation | undefined;
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

  const declared = responseValidators[operation.operationId]?.[exchange.status];
  expect(declared, `undeclared status: ${where}`).toBeDefined();
  const mediaTypes = mediaTypesOf(operation, exchange.status);
  if (exchange.method !== 'HEAD' && mediaTypes.length > 0) {
    expect(mediaTypes, `undeclared media type: ${where}`).toContain(mediaType);
    const validate = declared?.[mediaType];
    if (validate) expect(validate(body) || validate.errors, where).toBe(true);
  }
  for (const [name, required] of Object.entries(
    responseHeaders[operation.operationId]?.[exchange.status] ?? {},
  )) {
    if (required) expect(exchange.headers.get(name), `header ${name}: ${where}`).not.toBeNull();
  }

  if (!mediaType.endsWith('json')) return;
  const resource = prismOperations.find(({ iid }) => iid === operation.operationId) as IHttpOperation;
  // Prism accepts application/json for application/problem+json, so it gets the content of the exact type only.
  const responses = resource.responses.map((response) => ({
    ...response,
    contents: response.contents?.filter((content) => content.mediaType === mediaType) ?? [],
  }));
  const violations = validateOutput({
    resource: { ...resource, responses } as IHttpOperation,
    element: { statusCode: exchange.status, headers: Object.fromEntries(exchange.headers), body },
  });
  expect('left' in violations ? violations.left : [], `Prism: ${where}`).toEqual([]);
}

/** A parsed body: JSON, or else text. */
export function bodyOf({ headers, text }: Pick<Exchange, 'headers' | 'text'>): unknown {
  if (text === '') return undefined;
  return /^application\/([\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}

/** The declared media types of a response, none if it has no body. */
function mediaTypesOf({ operationId }: ContractOperation, status: number): string[] {
  const resource = prismOperations.find(({ iid }) => iid === operationId);
  const response = resource?.responses.find(({ code }) => code === String(status));
  return response?.contents?.map(({ mediaType }) => mediaType) ?? [];
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
  expect(problem || mediaType === 'application/json', where).toBe(true);
  const {
    code,
    error,
    status,
    docs_url: page,
    type,
    request_id: requestId,
  } = body as Record<string, unknown>;
  const name = String(problem ? code : error);
  expect(problem ? status : code, where).toBe(exchange.status);
  expect(Object.keys(catalog), where).toContain(name);
  const entry = (catalog as Record<string, CatalogEntry>)[name]!;
  expect(entry.statuses, where).toContain(exchange.status);
  expect(requestId, where).toBe(exchange.headers.get('x-request-id'));
  expect(type, where).toBe(entry.type ?? page);
  if (operation) {
    expect([...GENERAL_CODES, ...(operation['x-error-codes'] ?? [])], `undeclared code: ${where}`).toContain(
      name,
    );
  }
  expect(exchange.text, `leak: ${where}`).not.toMatch(/\bat .*\.ts:\d|select |insert |node_modules/i);
}
