import { catalog, errorSlug, type CatalogEntry, type ErrorCode } from '../src/foundation/errors/catalog.ts';
import { type Contract, type Operation, type Response, operationsOf } from './generate/document.ts';

interface Marks {
  readonly 'x-bearer-token'?: string;
  readonly 'x-same-origin'?: boolean;
}

interface MarkedOperation extends Operation, Marks {
  readonly requestBody?: object;
  readonly 'x-error-codes'?: readonly ErrorCode[];
}

const PROBLEM = '#/components/schemas/ProblemDetails';
const HEADERS = '#/components/headers';
const OF_EVERY_OPERATION: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'MALFORMED_JSON',
  'MALFORMED_REQUEST',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];
const OF_BODIES: readonly ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** The kinds of bearer tokens that act for a developer. */
const KINDS_OF_DEVELOPERS: readonly unknown[] = ['developer', 'reseller', 'agent'];
/** The kinds that the cookie of a browser session replaces. */
const KINDS_OF_BROWSERS: readonly unknown[] = ['developer', 'reseller', 'administrator'];

/** The codes that follow from other marks of an operation. */
export function codesOfMarks(operation: Marks): readonly ErrorCode[] {
  const { 'x-bearer-token': kind, 'x-same-origin': isForPages } = operation;
  return [
    ...(KINDS_OF_DEVELOPERS.includes(kind) ? (['ACCOUNT_SUSPENDED'] as const) : []),
    ...(isForPages || KINDS_OF_BROWSERS.includes(kind) ? (['CROSS_ORIGIN_REQUEST'] as const) : []),
  ];
}

/** The codes that an operation may return without naming them. */
export function generalCodesOf(operation: Marks): readonly ErrorCode[] {
  return [...OF_EVERY_OPERATION, ...OF_BODIES, ...codesOfMarks(operation)];
}

/** The codes of an operation's errors, the most usual first. */
function codesOf(operation: MarkedOperation): readonly ErrorCode[] {
  const { requestBody, 'x-error-codes': own = [] } = operation;
  return [...OF_EVERY_OPERATION, ...own, ...codesOfMarks(operation), ...(requestBody ? OF_BODIES : [])];
}

/**
 * The contract with a response for each status of an operation's errors, instead of `4XX` and `5XX`: mocks choose a
 * response by its status, and tests check which statuses an operation has. Each has an example by code.
 */
export function withErrorsByStatus(contract: Contract): Contract {
  const expanded = structuredClone(contract);
  for (const operation of operationsOf(expanded)) {
    const { '4XX': _client, '5XX': _server, ...declared } = operation.responses;
    operation.responses = { ...errorsOf(operation), ...declared };
  }
  return expanded;
}

function errorsOf(operation: MarkedOperation): Record<string, Response> {
  const pairs = codesOf(operation).flatMap((code) =>
    (catalog[code] as CatalogEntry).statuses.map((status) => ({ status, code })),
  );
  const byStatus = Map.groupBy(pairs, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const examples = group.map(({ code }) => [code, { value: problem(code, status) }]);
      const content = {
        'application/problem+json': {
          schema: { $ref: PROBLEM },
          examples: Object.fromEntries(examples) as object,
        },
      };
      return [String(status), { description: 'An error.', headers: headersOf(status), content }];
    }),
  );
}

function headersOf(status: number): Response['headers'] {
  return {
    'X-Request-Id': { $ref: `${HEADERS}/RequestIdHeader` },
    ...((status === 429 || status === 503) && { 'Retry-After': { $ref: `${HEADERS}/RetryAfterHeader` } }),
    ...(status === 401 && { 'WWW-Authenticate': { $ref: `${HEADERS}/WwwAuthenticateHeader` } }),
  };
}

function problem(code: ErrorCode, status: number): object {
  const { title, detail, hint, type }: CatalogEntry = catalog[code];
  const page = `http://127.0.0.1:3000/errors/${errorSlug(code)}`;
  return {
    type: type ?? page,
    title,
    status,
    detail,
    code,
    hint,
    docs_url: page,
    timestamp: '2026-11-21T10:00:00.000Z',
    request_id: 'req_9uQ0cV7yTq2mZr5xWb8sLg',
  };
}
