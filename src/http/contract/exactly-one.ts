import type { ErrorObject } from 'ajv';

/** The parts of a schema with references resolved that are read here. */
export interface MarkedSchema {
  readonly properties?: Readonly<Record<string, MarkedSchema>>;
  readonly items?: MarkedSchema;
  /** Members of which a request has exactly one. Many generators do not support `oneOf`. */
  readonly 'x-exactly-one-of'?: readonly string[];
}

/** Whether a schema, or one inside it, has the mark. */
export function hasChoices(schema: MarkedSchema): boolean {
  const { properties = {}, items, 'x-exactly-one-of': choice } = schema;
  return choice !== undefined || [...Object.values(properties), ...(items ? [items] : [])].some(hasChoices);
}

/**
 * The errors of values without exactly one of the members that `x-exactly-one-of` names. Null and false do not count,
 * because some clients send them for what their program leaves out. Only if nothing else was sent, null is a value.
 * @param path of the value, as the validators write it
 */
export function* choiceErrors(schema: MarkedSchema, value: unknown, path: string): Generator<ErrorObject> {
  const { items, properties = {}, 'x-exactly-one-of': choice = [] } = schema;
  if (Array.isArray(value)) {
    if (items)
      for (const [index, item] of value.entries()) yield* choiceErrors(items, item, `${path}/${index}`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const members = value as Readonly<Record<string, unknown>>;
  for (const [name, property] of Object.entries(properties)) {
    yield* choiceErrors(property, members[name], `${path}/${name}`);
  }
  yield* errorsOf(choice, members, path);
}

function errorsOf(
  choice: readonly string[],
  members: Readonly<Record<string, unknown>>,
  path: string,
): ErrorObject[] {
  const [usual, ...others] = choice.filter(
    (name) => ![undefined, null, false].includes(members[name] as null),
  );
  if (usual !== undefined) {
    const message = `must not be sent with ${usual}`;
    return others.map((name) => error('choice', `${path}/${name}`, {}, message));
  }
  const [first] = choice;
  const values = choice.map((name) => members[name]);
  if (first === undefined || (values.includes(null) && !values.includes(false))) return [];
  return [error('required', path, { missingProperty: first }, 'is required')];
}

function error(keyword: string, instancePath: string, params: object, message: string): ErrorObject {
  return { keyword, instancePath, params, message, schemaPath: '#/x-exactly-one-of' };
}
