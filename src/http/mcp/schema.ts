/** A schema of OpenAPI 3.0, or the JSON Schema (2020-12) translated from it. */
export type Schema = { readonly [keyword: string]: unknown };

/** The properties of an object, and the required ones. */
export interface Shape {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/** Keywords without an equivalent in JSON Schema, or that only document the HTTP interface. */
const DROPPED = new Set(['nullable', 'example', 'xml', 'discriminator', 'externalDocs']);
/** The service's own formats: strict clients refuse unknown formats, and the description says the same. */
const OWN_FORMATS = new Set<unknown>(['visible-name', 'visible-identifier']);
const SCHEMAS = new Set(['oneOf', 'anyOf', 'allOf']);

/** Translates schemas of a contract into self-contained JSON Schemas without references. */
export class SchemaTranslator {
  readonly #document: object;

  /** @param document the contract */
  constructor(document: object) {
    this.#document = document;
  }

  /**
   * Resolves a reference within the contract; returns anything else unchanged. @throws Error for an unknown reference
   */
  resolve<Value extends object>(value: Value | { readonly $ref: string }): Value {
    if (!('$ref' in value)) return value;
    const steps = value.$ref.replace(/^#\//, '').split('/');
    const found = steps.reduce<unknown>((node, step) => (node as Schema | undefined)?.[step], this.#document);
    if (found === undefined) throw new Error(`${value.$ref} is not in the contract`);
    return this.resolve(found as Value);
  }

  /** @throws Error for a schema that contains itself */
  translate(schema: Schema, within: readonly string[] = []): Schema {
    const { $ref } = schema as { readonly $ref?: string };
    if ($ref !== undefined) {
      if (within.includes($ref)) throw new Error(`${$ref} contains itself`);
      return this.translate(this.resolve(schema), [...within, $ref]);
    }
    const translated: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (DROPPED.has(keyword) || keyword.startsWith('x-')) continue;
      if (keyword === 'format' && OWN_FORMATS.has(value)) continue;
      translated[keyword] = this.#keyword(keyword, value, within);
    }
    if ('example' in schema) translated['examples'] = [schema['example']];
    setBound(translated, 'exclusiveMinimum', 'minimum');
    setBound(translated, 'exclusiveMaximum', 'maximum');
    return schema['nullable'] === true ? withNull(translated) : translated;
  }

  /**
   * The shape of an object, with all parts of an `allOf`.
   * @throws Error when the schema is not an object with properties
   */
  shapeOf(schema: Schema): Shape {
    const { allOf = [], properties = {}, required = [], type } = this.resolve(schema) as ObjectSchema;
    if (type !== 'object' && allOf.length === 0) throw new Error('a tool needs an object');
    const parts = allOf.map((part) => this.shapeOf(part));
    const own = Object.entries(properties).map(
      ([name, property]) => [name, this.translate(property)] as const,
    );
    return {
      properties: Object.assign(
        {},
        ...parts.map((part) => part.properties),
        Object.fromEntries(own),
      ) as Record<string, Schema>,
      required: [...new Set([...parts.flatMap((part) => part.required), ...required])],
    };
  }

  #keyword(keyword: string, value: unknown, within: readonly string[]): unknown {
    if (SCHEMAS.has(keyword)) return (value as Schema[]).map((each) => this.translate(each, within));
    if (keyword === 'items' || (keyword === 'additionalProperties' && typeof value === 'object')) {
      return this.translate(value as Schema, within);
    }
    if (keyword !== 'properties') return value;
    return Object.fromEntries(
      Object.entries(value as Record<string, Schema>).map(([name, property]) => [
        name,
        this.translate(property, within),
      ]),
    );
  }
}

interface ObjectSchema {
  readonly type?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** In OpenAPI 3.0 a flag makes a bound exclusive; JSON Schema has a separate keyword. */
function setBound(schema: Record<string, unknown>, exclusive: string, inclusive: string): void {
  if (typeof schema[exclusive] !== 'boolean') return;
  const isExclusive = schema[exclusive];
  delete schema[exclusive];
  if (!isExclusive) return;
  schema[exclusive] = schema[inclusive];
  delete schema[inclusive];
}

function withNull(schema: Record<string, unknown>): Schema {
  const { type, enum: values, description, ...rest } = schema;
  if (typeof type !== 'string') {
    const { description: _moved, ...bare } = schema;
    return { ...(description !== undefined && { description }), anyOf: [bare, { type: 'null' }] };
  }
  return {
    type: [type, 'null'],
    ...(description !== undefined && { description }),
    ...rest,
    ...(Array.isArray(values) && { enum: values.includes(null) ? values : [...values, null] }),
  };
}
