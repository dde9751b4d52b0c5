import type { components, paths } from '../../../generated/types.ts';
import { newIdempotencyKey } from '../lib/random.ts';
import { attemptOf } from './attempts.ts';
import { BASE } from './base.ts';
import { type Problem, problemOf, signedOut, unreachable } from './problem.ts';
import { recordRequest } from './request-log.ts';

export type Schemas = components['schemas'];

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Every operation of the contract, such as `GET /api/v2/dev/apps`. */
export type Route = {
  [Path in keyof paths]: {
    [Name in Method]: paths[Path][Name] extends { responses: unknown } ? `${Uppercase<Name>} ${Path}` : never;
  }[Method];
}[keyof paths];

type Operation<Of extends Route> = Of extends `${infer Verb} ${infer Path extends keyof paths}`
  ? paths[Path][Lowercase<Verb> & Method]
  : never;

type Parameters<Of extends Route, Place extends 'path' | 'query'> =
  Operation<Of> extends { parameters: infer Known }
    ? Place extends keyof Known
      ? Exclude<Known[Place], undefined>
      : never
    : never;

type Body<Of extends Route> =
  Operation<Of> extends { requestBody?: { content: { 'application/json': infer Content } } }
    ? Content
    : never;

/** The body of a success. */
export type Success<Of extends Route> =
  Operation<Of> extends { responses: infer Responses }
    ? {
        [Status in keyof Responses]: Status extends 200 | 201 | 202
          ? Responses[Status] extends { content: { 'application/json': infer Content } }
            ? Content
            : never
          : never;
      }[keyof Responses]
    : never;

/** What a request sends. A member that the operation does not have cannot be given. */
export type Input<Of extends Route> = ([Parameters<Of, 'path'>] extends [never]
  ? { path?: never }
  : { path: Parameters<Of, 'path'> }) & {
  query?: Parameters<Of, 'query'>;
  body?: Body<Of>;
  /** Sent as it is, to operations that take a file. */
  file?: Blob;
  signal?: AbortSignal | undefined;
  /** Sends a new `Idempotency-Key`, so that sending the request again has no second effect. */
  once?: boolean;
  /** Fills in a detail of the page: it is not listed among the requests that the page shows. */
  background?: boolean;
};

/** Lets the user sign in again. @returns whether they did */
export type SignInAgain = () => Promise<boolean>;

let signInAgain: SignInAgain = () => Promise.resolve(false);
let isReplaced = () => false;

/**
 * Sets what happens when the session has ended.
 * @param replaced whether the cookie is of another account, so that responses are not for this page
 */
export function onSessionEnd(handle: SignInAgain, replaced: () => boolean): void {
  signInAgain = handle;
  isReplaced = replaced;
}

/** Lets the user sign in again, for requests that are not sent by `call`. @returns whether they did */
export const requestSignIn: SignInAgain = () => signInAgain();

/** A success, and the identifier that the service's log has for the request. */
export interface Result<Of extends Route> {
  readonly body: Success<Of>;
  readonly requestId: string | undefined;
}

/** The address of an operation, from the root of the host. */
export function addressOf<Of extends Route>(route: Of, { path, query }: Input<Of>): string {
  const [, template] = route.split(' ') as [string, string];
  return `${BASE}${fill(template, path ?? {})}${searchOf(query ?? {})}`;
}

/**
 * Sends a request of the contract. If the session has ended, it waits until the user has signed in again and repeats
 * the request, so that nothing they wrote is lost.
 * @throws Problem
 */
export async function callForResult<Of extends Route>(route: Of, input: Input<Of>): Promise<Result<Of>> {
  const [method] = route.split(' ') as [string];
  const { file, body = file, signal, once, background } = input;
  const target = addressOf(route, input);
  if (!background) recordRequest({ method, path: target, body });
  const attempt = once
    ? attemptOf(`${method} ${target} ${file ? newIdempotencyKey() : JSON.stringify(body)}`)
    : undefined;
  const send = () => sendRequest(method, target, body, { signal, key: attempt?.key });

  if (isReplaced() && !(await signInAgain())) throw signedOut();
  let response = await send();
  const isForeign = method === 'GET' && isReplaced();
  if ((response.status === 401 || isForeign) && (await signInAgain())) response = await send();
  attempt?.settle(response.status);
  if (!response.ok) throw await problemOf(response);
  return {
    body: (await response.json()) as Success<Of>,
    requestId: response.headers.get('X-Request-Id') ?? undefined,
  };
}

/** `callForResult` without the identifier. @throws Problem */
export async function call<Of extends Route>(
  route: Of,
  ...[input = {} as Input<Of>]: object extends Input<Of> ? [Input<Of>?] : [Input<Of>]
): Promise<Success<Of>> {
  return (await callForResult(route, input)).body;
}

interface Sending {
  readonly signal?: AbortSignal | undefined;
  readonly key?: string | undefined;
}

/** Sends a request, its body as JSON or as the file that it is. @throws Problem if there is no response */
export async function sendRequest(
  method: string,
  target: string,
  body?: unknown,
  { signal, key }: Sending = {},
): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  const isFile = body instanceof Blob;
  if (body !== undefined) headers['Content-Type'] = isFile ? 'application/octet-stream' : 'application/json';
  if (key !== undefined) headers['Idempotency-Key'] = key;
  try {
    return await fetch(target, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable(error) satisfies Problem;
  }
}

function fill(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(values[name])));
}

function searchOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return search.size > 0 ? `?${search}` : '';
}
