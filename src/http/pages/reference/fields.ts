import { resolve, type Document, type Schema } from './document.ts';

/** A member of a body, or a parameter, as one row of a table. */
export interface Field {
  /** Members of members have dots, and those of items `[]`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** Deeper members are left to the schema: no body has more levels that a reader needs. */
const DEEPEST = 4;

/** The members of a schema, each before its own members. */
export function fieldsOf(document: Document, schema: Schema | undefined): Field[] {
  return schema ? [...membersOf(document, schema, '', [])] : [];
}

function* membersOf(
  document: Document,
  schema: Schema,
  prefix: string,
  seen: readonly Schema[],
): Generator<Field> {
  const { properties, required, items } = merged(document, schema);
  if (items) yield* membersOf(document, items, `${prefix}[]`, seen);
  for (const [name, property] of Object.entries(properties)) {
    const member = merged(document, property);
    const path = prefix === '' ? name : `${prefix}.${name}`;
    yield {
      name: path,
      type: typeOf(document, property),
      isRequired: required.includes(name),
      description: descriptionOf(member),
    };
    const target = resolve(document, property.items ?? property);
    // A schema may contain itself.
    if (seen.length < DEEPEST && !seen.includes(target)) {
      yield* membersOf(document, property, path, [...seen, target]);
    }
  }
}

type Merged = Schema & Required<Pick<Schema, 'properties' | 'required'>>;

/** A schema with its references resolved and its parts in one. */
function merged(document: Document, schema: Schema): Merged {
  const own = resolve(document, schema);
  const parts = (own.allOf ?? []).map((part) => merged(document, part));
  return {
    ...Object.assign({}, ...parts),
    ...own,
    // A description next to a reference is about this use of the schema.
    ...(schema.description !== undefined && { description: schema.description }),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties), own.properties) as Record<
      string,
      Schema
    >,
    required: [...parts.flatMap(({ required }) => required), ...(own.required ?? [])],
  };
}

/** The type of a value in a few words. */
export function typeOf(document: Document, schema: Schema): string {
  const { type = 'any', format, items, nullable, enum: values } = merged(document, schema);
  const name = items ? `array of ${typeOf(document, items)}` : (NAMES[format ?? ''] ?? type);
  const listed =
    values && values.length > 1 ? `: ${values.map((value) => JSON.stringify(value)).join(', ')}` : '';
  return `${name}${nullable ? ' or null' : ''}${listed}`;
}

const NAMES: Readonly<Record<string, string>> = {
  'date-time': 'time',
  date: 'date',
  email: 'email address',
  uri: 'URL',
};

/** The description of a value, followed by its limits. */
export function descriptionOf(schema: Schema): string {
  const { description = '', minimum, maximum, minLength, maxLength, maxItems, default: preset } = schema;
  const limits = [
    ...range('', minimum, maximum),
    ...range(' characters', minLength === 0 ? undefined : minLength, maxLength),
    ...range(' items', undefined, maxItems),
    ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`]),
  ].join(', ');
  return [description.trim(), limits && `(${limits})`].filter(Boolean).join(' ');
}

function range(unit: string, least: number | undefined, most: number | undefined): string[] {
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (least !== undefined) return [`at least ${least}${unit}`];
  return most === undefined ? [] : [`at most ${most}${unit}`];
}
