import contract from '../../generated/openapi.json' with { type: 'json' };

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
}

/** An operation of the contract with what a test asks of it. */
export interface ContractOperation {
  readonly operationId: string;
  readonly method: string;
  /** With `{app_id}` in it. */
  readonly path: string;
  readonly tag: string;
  readonly bearer: boolean;
  /** Whether it must be signed, or may. */
  readonly signature: 'required' | 'optional' | undefined;
  /** Its header parameters, with a question mark when they may be left out. */
  readonly headers: readonly string[];
  /** What its limit counts for. */
  readonly rateLimit: string | undefined;
  readonly deprecated: boolean;
  readonly codes: readonly string[];
  readonly requestBody: Content | undefined;
  /** Status to media type to content. */
  readonly responses: Readonly<Record<string, Readonly<Record<string, Content>>>>;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
}

interface RawOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly 'x-error-codes'?: readonly string[];
  readonly 'x-signature'?: 'required' | 'optional';
  readonly 'x-rate-limit'?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': Content } };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** What a reference names; anything else as it is. */
export function resolve<Value extends object>(value: Value & { readonly $ref?: string }): Value {
  if (value.$ref === undefined) return value;
  const found = value.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], contract);
  return resolve(found as Value);
}

/** Every operation of the contract, in its order. */
export const operations: readonly ContractOperation[] = Object.entries(contract.paths).flatMap(
  ([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, raw]) => {
        const operation = raw as unknown as RawOperation;
        return {
          operationId: operation.operationId,
          method: method.toUpperCase(),
          path,
          tag: operation.tags[0]!,
          bearer: operation.security.length > 0,
          signature: operation['x-signature'],
          headers: (operation.parameters ?? [])
            .map((parameter) => resolve(parameter))
            .filter((parameter) => parameter.in === 'header')
            .map(({ name, required }) => (required ? name : `${name}?`)),
          rateLimit: operation['x-rate-limit'],
          deprecated: operation.deprecated ?? false,
          codes: operation['x-error-codes'] ?? [],
          requestBody: operation.requestBody?.content['application/json'],
          responses: Object.fromEntries(
            Object.entries(operation.responses).map(([status, response]) => [
              status,
              resolve(response).content ?? {},
            ]),
          ),
        };
      }),
);

/** The properties of a schema and which of them are required, across references and `allOf`. */
export function shapeOf(schema: ContractSchema): {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, ContractSchema>>;
} {
  const { required = [], properties = {}, allOf = [] } = resolve(schema);
  const parts = allOf.map(shapeOf);
  return {
    required: [...parts.flatMap((part) => part.required), ...required],
    properties: Object.assign({}, ...parts.map((part) => part.properties), properties) as Record<
      string,
      ContractSchema
    >,
  };
}
