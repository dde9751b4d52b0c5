/** A schema of the contract, with the keywords that the reference shows. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly 'x-exactly-one-of'?: readonly string[];
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** Content of one media type. */
export interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly $ref?: string;
        readonly description: string;
        readonly content?: Readonly<Record<string, Media>>;
      }
    >
  >;
  readonly 'x-bearer-token'?: string;
  readonly 'x-scopes'?: readonly string[];
  readonly 'x-error-codes'?: readonly string[];
  readonly 'x-successor'?: string;
  readonly 'x-signature'?: 'required' | 'optional';
}

/** The contract. */
export interface Document {
  readonly tags?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly 'x-traitTag'?: boolean;
  }[];
  readonly info?: { readonly version: string; readonly description?: string };
  readonly paths?: object;
  readonly components?: { readonly securitySchemes?: object };
}

/** An operation with its place in the contract. */
export interface Located {
  readonly operation: Operation;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  /** The parameters of its path and its own, resolved. */
  readonly parameters: readonly Parameter[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** The target of a reference inside the contract. Any other value is returned unchanged. */
export function resolve<Value extends object>(
  document: Document,
  value: Value & { readonly $ref?: string },
): Value {
  if (value.$ref === undefined) return value;
  const found = value.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], document);
  return resolve(document, found as Value);
}

/** Every operation by its operationId, in the order of the contract. */
export function locateOperations(document: Document): ReadonlyMap<string, Located> {
  const found = Object.entries(document.paths ?? {}).flatMap(([path, item = {}]) => {
    const { parameters: ofPath = [] } = item as { readonly parameters?: readonly Parameter[] };
    return Object.entries(item as Readonly<Record<string, Operation>>)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({
        operation,
        method: method.toUpperCase(),
        path,
        parameters: [...ofPath, ...(operation.parameters ?? [])].map((each) => resolve(document, each)),
      }));
  });
  return new Map(found.map((located) => [located.operation.operationId, located]));
}

/** The first media type of a content. */
export function mediaOf(
  document: Document,
  content: Readonly<Record<string, Media>> = {},
):
  { readonly mediaType: string; readonly schema: Schema | undefined; readonly example: unknown } | undefined {
  const [first] = Object.entries(content);
  if (!first) return undefined;
  const [mediaType, { schema, example, examples = {} }] = first;
  const [named] = Object.values(examples);
  return { mediaType, schema, example: example ?? (named && resolve(document, named).value) };
}
