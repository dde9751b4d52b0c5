import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Fault } from '../../foundation/errors/api-error.ts';
import { collect } from '../contract/idempotency.ts';
import type { HttpResponse } from '../transport/response.ts';

/** Makes the result of a tool from its operation's response. */
export async function toResult({ body, stream, ...response }: HttpResponse): Promise<CallToolResult> {
  const text = stream ? await collect(stream) : (response.text ?? JSON.stringify(body));
  const structuredContent = (body ?? JSON.parse(text)) as Record<string, unknown>;
  return { content: [{ type: 'text', text }], structuredContent };
}

/** Members of a problem that are put into words for an agent. */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly hint: string;
  readonly docs_url: string;
  readonly request_id: string;
  readonly errors?: readonly Fault[];
}

/**
 * The result of a failed call: what is wrong, with which arguments, and what to do.
 * @param problem the problem that the operation would return over HTTP
 * @param retryAfter in seconds
 */
export function toErrorResult(problem: Problem, retryAfter: string | undefined): CallToolResult {
  const { title, detail, code, status, hint, docs_url: page, request_id: requestId, errors = [] } = problem;
  const lines = [
    `${title}: ${detail}`,
    ...errors.map((fault) => `- ${argumentOf(fault.pointer)} ${fault.detail}`),
    `What to do: ${hint}`,
    ...(retryAfter === undefined ? [] : [`Call again in ${retryAfter} s.`]),
    `Code: ${code} (${status}). More: ${page}. Request: ${requestId}`,
  ];
  return { isError: true, content: [{ type: 'text', text: lines.join('\n') }] };
}

/**
 * The argument that a fault of a request points to, in one notation for `/tier`, `query/limit` and
 * `header/Idempotency-Key`.
 */
function argumentOf(pointer: string): string {
  const [first = '', ...rest] = pointer
    .replace(/^(path|query|header)?\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const name = /^idempotency-key$/i.test(first) ? 'idempotency_key' : first;
  if (name === '') return 'the arguments';
  return [name, ...rest.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))].join('');
}
