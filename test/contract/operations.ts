import generated from '../../generated/openapi.json' with { type: 'json' };
import { codesOfMarks, withErrorsByStatus } from '../../tools/errors-by-status.ts';
import type { Contract } from '../../tools/generate/document.ts';

const contract = withErrorsByStatus(generated as unknown as Contract);

export interface ContractSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, ContractSchema>>;
  readonly allOf?: readonly ContractSchema[];
  readonly items?: ContractSchema;
}

interface Content {
  readonly schema: ContractSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
}

/** The body of an operation. The example is a value for JSON, and text for other media types. */
export interface RequestBody extends Content {
  readonly mediaType: string;
  readonly required: boolean;
}

/** An operation of the contract with the properties that tests use. */
export interface ContractOperation {
  readonly operationId: string;
  readonly method: string;
  /** Includes placeholders such as `{app_id}`. */
  readonly path: string;
  readonly tag: string;
  /** Whether a token must be sent. */
  readonly bearer: boolean;
  /** The kind of bearer token that it accepts. */
  readonly tokenKind: string | undefined;
  /** Whether it accepts a payment instead of a token. */
  readonly acceptsPayment: boolean;
  /** The scopes that a developer's or reseller's token needs. */
  readonly scopes: readonly string[];
  /** Whether it refuses delegated tokens. */
  readonly notDelegated: boolean;
  /** Whether it takes an `Idempotency-Key`. */
  readonly takesKey: boolean;
  /** Whether a signature is required or optional. */
  readonly signature: 'required' | 'optional' | undefined;
  /** Its header parameters, optional ones with a question mark. */
  readonly headers: readonly string[];
  /** Whether a device signs its requests, or the key that they register. */
  readonly deviceSignature: 'required' | 'optional' | 'self' | undefined;
  /** What its rate limit counts. */
  readonly rateLimit: string | undefined;
  readonly hashesPassword: boolean;
  /** The codes that follow from its marks. */
  readonly codesOfMarks: readonly string[];
  /** Whether only the service's own pages may call it. */
  readonly sameOrigin: boolean;
  /** Whose login it is. */
  readonly login: string | undefined;
  /** The largest body, if the operation has its own limit. */
  readonly maxBytes: number | undefined;
  readonly deprecated: boolean;
  /** Its timeout in seconds. */
  readonly timeLimit: number;
  readonly codes: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody: RequestBody | undefined;
  /** Content by status and media type. */
  readonly responses: Readonly<Record<string, Readonly<Record<string, Content>>>>;
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
}

interface RawOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly 'x-accepts-payment'?: boolean;
  readonly 'x-bearer-token'?: string;
  readonly 'x-error-codes'?: readonly string[];
  readonly 'x-scopes'?: readonly string[];
  readonly 'x-not-delegated'?: boolean;
  readonly 'x-signature'?: 'required' | 'optional';
  readonly 'x-same-origin'?: boolean;
  readonly 'x-rate-limit'?: string;
  readonly 'x-hashes-password'?: boolean;
  readonly 'x-device-signature'?: 'required' | 'optional' | 'self';
  readonly 'x-login'?: string;
  readonly 'x-max-bytes'?: number;
  readonly 'x-time-limit'?: number;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, Content>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** The target of a reference. Any other value is returned unchanged. */
export function resolve<Value extends object>(value: Value & { readonly $ref?: string }): Value {
  if (value.$ref === undefined) return value;
  const found = value.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], contract);
  return resolve(found as Value);
}

/** Every operation of the contract, in order. */
export const operations: readonly ContractOperation[] = Object.entries(contract.paths).flatMap(
  ([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, raw]) => {
        const operation = raw as unknown as RawOperation;
        const { parameters: ofPath = [] } = item as { parameters?: readonly Parameter[] };
        const parameters = [...ofPath, ...(operation.parameters ?? [])].map((parameter) =>
          resolve(parameter),
        );
        return {
          operationId: operation.operationId,
          method: method.toUpperCase(),
          path,
          tag: operation.tags[0]!,
          bearer:
            operation.security.length > 0 && operation.security.every((way) => Object.keys(way).length > 0),
          tokenKind: operation['x-bearer-token'],
          acceptsPayment: operation['x-accepts-payment'] === true,
          scopes: operation['x-scopes'] ?? [],
          notDelegated: operation['x-not-delegated'] === true,
          takesKey: parameters.some(({ name }) => name.toLowerCase() === 'idempotency-key'),
          signature: operation['x-signature'],
          deviceSignature: operation['x-device-signature'],
          headers: parameters
            .filter((parameter) => parameter.in === 'header')
            .map(({ name, required }) => (required ? name : `${name}?`)),
          rateLimit: operation['x-rate-limit'],
          hashesPassword: operation['x-hashes-password'] === true,
          sameOrigin: operation['x-same-origin'] === true,
          codesOfMarks: codesOfMarks(operation),
          login: operation['x-login'],
          maxBytes: operation['x-max-bytes'],
          deprecated: operation.deprecated ?? false,
          timeLimit: operation['x-time-limit'] ?? 5,
          codes: operation['x-error-codes'] ?? [],
          parameters,
          requestBody: toRequestBody(operation.requestBody),
          responses: Object.fromEntries(
            Object.entries(operation.responses).map(([status, response]) => [
              status,
              resolve(response).content ?? {},
            ]),
          ),
        };
      }),
);

function toRequestBody(body: RawOperation['requestBody']): RequestBody | undefined {
  if (!body) return undefined;
  const mediaTypes = Object.keys(body.content);
  const mediaType = mediaTypes.includes('application/json') ? 'application/json' : mediaTypes[0]!;
  const { example, ...content } = body.content[mediaType]!;
  return {
    ...content,
    mediaType,
    required: body.required ?? false,
    example: example ?? Object.values(content.examples ?? {}).map((each) => resolve(each).value)[0],
  };
}

/** Whether the body is JSON, so that its faults are known. */
export function takesJson({ requestBody }: ContractOperation): boolean {
  return requestBody?.mediaType === 'application/json';
}

/** The success status, or undefined for an operation that only requests a payment. */
export function successOf({ responses }: ContractOperation): string | undefined {
  return Object.keys(responses).find((status) => status.startsWith('2'));
}

/** The media types of an operation's successful responses. */
export function successTypes({ responses }: ContractOperation): string[] {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return [...new Set(successes.flatMap(([, content]) => Object.keys(content)))];
}

/** The properties of a schema and which of them are required, across references and `allOf`. */
export function shapeOf(schema: ContractSchema): {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, ContractSchema>>;
  /** The remaining keywords of the object. */
  readonly constraints: object;
} {
  const { required = [], properties = {}, allOf = [], ...constraints } = resolve(schema);
  const parts = allOf.map(shapeOf);
  return {
    required: [...parts.flatMap((part) => part.required), ...required],
    properties: Object.assign({}, ...parts.map((part) => part.properties), properties) as Record<
      string,
      ContractSchema
    >,
    constraints: Object.assign({}, ...parts.map((part) => part.constraints), constraints) as object,
  };
}
