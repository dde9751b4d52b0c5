/** A schema of OpenAPI 3.0, or the JSON Schema (2020-12) that is made of it. */
export type Schema = { readonly [keyword: string]: unknown };

/** The properties of an object, and those that must be there. */
export interface Shape {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/** What JSON Schema has no word for, or what only documents the HTTP interface. */
const DROPPED = new Set(['nullable', 'example', 'xml', 'discriminator', 'externalDocs']);
/** Our own formats: clients that know JSON Schema strictly refuse a schema with one, and its description says the same. */
const OWN_FORMATS = new Set<unknown>(['visible-name', 'visible-identifier']);
const SCHEMAS = new Set(['oneOf', 'anyOf', 'allOf']);

/** Makes JSON Schemas of a contract's schemas: each whole in itself, without references. */
export class SchemaTranslator {
  readonly #document: object;

  /** @param document the contract */
  constructor(document: object) {
    this.#document = document;
  }

  /** What a reference within the contract names; anything else as it is. @throws Error when there is no such thing */
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
   * The shape of an object, all parts of an `allOf` together.
   * @throws Error when it is no object that says what it has
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

/** In OpenAPI 3.0 a bound is exclusive by a switch, in JSON Schema by a name of its own. */
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
