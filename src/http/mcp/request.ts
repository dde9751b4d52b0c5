import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { ApiError, type Fault } from '../../foundation/errors/api-error.ts';
import { KEY_ARGUMENT, type ContractTool, type Place } from './tools.ts';

/** The request to an operation that a tool's arguments describe. */
export interface OperationRequest {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly search: string;
}

/** A call in which everything is wrong would otherwise get a very long response. */
const SHOWN = 20;

/** The arguments of a call, as received. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Makes the request to a tool's operation. The operation validates the arguments; this refuses only those that cannot
 * be part of a request.
 * @param authorization of the request to MCP
 * @param key makes the request safe to repeat; an argument of that name takes precedence
 * @throws ApiError VALIDATION_FAILED
 */
export function toOperationRequest(
  tool: ContractTool,
  args: Arguments,
  { authorization, key }: { readonly authorization: string; readonly key?: unknown },
): OperationRequest {
  const { places, hasBody, method } = tool;
  const sentKey = places.has(KEY_ARGUMENT) ? (args[KEY_ARGUMENT] ?? key ?? undefined) : undefined;
  refuse(misplaced(tool, sentKey === undefined ? args : { ...args, [KEY_ARGUMENT]: sentKey }));
  const at = (wanted: Place) =>
    [...places].filter(([name, place]) => place === wanted && args[name] !== undefined).map(([name]) => name);
  const path = tool.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(args[name])),
  );
  const search = new URLSearchParams(
    Object.fromEntries(at('query').map((name) => [name, String(args[name])])),
  ).toString();
  const body = Object.fromEntries(at('body').map((name) => [name, args[name]]));
  const headers = {
    accept: 'application/json',
    authorization,
    ...(sentKey !== undefined && { 'idempotency-key': String(sentKey) }),
  };
  return { request: toRequest(method, headers, hasBody ? toJson(body) : undefined), path, search };
}

/** Arguments that the tool does not have, that the path lacks, or that cannot be written where they belong. */
function misplaced({ places }: ContractTool, args: Arguments): readonly Fault[] {
  const unknown = Object.keys(args)
    .filter((name) => !places.has(name))
    .map((name) => ({ pointer: name, detail: 'is not an argument of this tool' }));
  const faulty = [...places].flatMap(([name, place]) => {
    const value = args[name];
    if (place === 'body') return [];
    if (value === undefined) return place === 'path' ? [{ pointer: name, detail: 'is required' }] : [];
    if (value === '' && place === 'path') return [{ pointer: name, detail: 'must not be empty' }];
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      return [{ pointer: name, detail: 'must be text or a number' }];
    }
    return String(value).isWellFormed() ? [] : [{ pointer: name, detail: 'must be well-formed Unicode' }];
  });
  return [...unknown, ...faulty];
}

/** A value that is nested thousands of levels deep can be parsed but not serialized. */
function toJson(body: object): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new ApiError('VALIDATION_FAILED', { detail: 'The arguments are nested too deeply.', cause });
  }
}

function refuse(errors: readonly Fault[]): void {
  if (errors.length === 0) return;
  const detail =
    errors.length === 1 ? 'An argument is not valid.' : `${errors.length} arguments are not valid.`;
  throw new ApiError('VALIDATION_FAILED', { detail, errors: errors.slice(0, SHOWN) });
}

function toRequest(
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): IncomingMessage {
  // Never connected: its body is pushed directly.
  const request = new IncomingMessage(new Socket());
  const sent = {
    ...headers,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    }),
  };
  request.method = method;
  request.headers = sent;
  request.rawHeaders = Object.entries(sent).flat();
  request.complete = true;
  if (body !== undefined) request.push(body);
  request.push(null);
  return request;
}
