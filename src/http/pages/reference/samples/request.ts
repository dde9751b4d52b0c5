import type { Located } from '../document.ts';

/** The value of a header: a text, the bearer token, or what a program computes for each request. */
export type HeaderValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'token' }
  | { readonly kind: 'timestamp' }
  | { readonly kind: 'signature' };

/** A request, regardless of the language that sends it. */
export interface SampleRequest {
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: HeaderValue])[];
  /** The body as it is sent. */
  readonly body: string | undefined;
  readonly isJson: boolean;
  /** Whether a program has to compute a signature of version 2 over the body. */
  readonly isSigned: boolean;
}

/** A body as the reference shows it. */
export interface Body {
  readonly mediaType: string;
  readonly example: unknown;
}

/** An example request to an operation, with the required parameters. */
export function sampleRequest(
  { operation, method, path, parameters }: Located,
  body: Body | undefined,
  baseUrl: string,
): SampleRequest {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
    .join('&');
  const url = baseUrl + path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => exampleOf(parameters, name));
  const isSigned = operation['x-signature'] === 'required';
  const required = parameters.filter((parameter) => parameter.in === 'header' && parameter.required);
  const headers: [string, HeaderValue][] = required.map(({ name, example }) => [
    name,
    COMPUTED[name] ?? { kind: 'text', text: String(example) },
  ]);
  if (isSigned) headers.push(['x-signature-version', { kind: 'text', text: '2' }]);
  if ((operation.security ?? []).length > 0) headers.push(['Authorization', { kind: 'token' }]);
  if (body) headers.push(['Content-Type', { kind: 'text', text: body.mediaType }]);
  return {
    operationId: operation.operationId,
    method,
    url: query === '' ? url : `${url}?${query}`,
    headers,
    body: body && textOf(body.example),
    isJson: body?.mediaType === 'application/json',
    isSigned,
  };
}

const COMPUTED: Readonly<Record<string, HeaderValue>> = {
  'x-signature': { kind: 'signature' },
  'x-timestamp': { kind: 'timestamp' },
};

function exampleOf(parameters: Located['parameters'], name: string): string {
  const found = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name);
  return encodeURIComponent(String(found?.example ?? name));
}

function textOf(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, undefined, 2);
}

/** Lines of code; absent ones are left out. */
export function lines(...all: readonly (string | false | undefined)[]): string {
  return all.filter((line) => typeof line === 'string').join('\n');
}

/** Every line of a text after an indentation. */
export function indent(text: string, by: string): string {
  return text.replaceAll(/^(?=.)/gm, by);
}

/** A text in double quotes, with the escapes that all languages of the reference share. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}
