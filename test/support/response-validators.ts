import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { visibleIdentifier, visibleName } from '../../generated/name-characters.ts';
import openapi from '../../generated/openapi.json' with { type: 'json' };
import { constraintsOf, constraintsOfEach } from '../../tools/generate/constraints.ts';
import {
  type Contract,
  type Response,
  type Schema,
  operationsOf,
  resolve,
} from '../../tools/generate/document.ts';

const JSON_TYPE = /^application\/([\w.-]+\+)?json$/;

type ByStatus<T> = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, T>>>>>>;

export interface ResponseChecks {
  /** By operationId, status or range such as `4XX`, and media type. Without a JSON body, a status has no validators. */
  readonly responseValidators: ByStatus<ValidateFunction>;
  /** By operationId, status (or range, such as `4XX`) and lower-case name: whether the header is required. */
  readonly responseHeaders: ByStatus<boolean>;
}

/** Validators of every JSON response in a contract, compiled when they are first used, and its headers. */
export function checksOf(contract: Contract): ResponseChecks {
  const named = contract.components?.schemas ?? {};
  const closed = (schema: Schema) => withoutUnknownMembers(schema, named) as Schema;
  // A common root keeps `#/components/schemas/…` references unchanged, so that each component compiles once.
  const components = constraintsOfEach(
    Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, closed(schema)])),
    ['default'],
  );
  const schemas: Schema[] = [];
  const ajv = new Ajv({
    strict: true,
    strictRequired: false,
    allErrors: true,
    keywords: ['components', 'responses'],
  });
  addFormats.default(ajv);
  ajv.addFormat('visible-name', visibleName).addFormat('visible-identifier', visibleIdentifier);
  ajv.addSchema({ components: { schemas: components }, responses: schemas }, 'contract');

  const indexes = new Map<string, number>();
  function indexOf(schema: Schema): number {
    const constraints = constraintsOf(closed(schema), ['default']) as Schema;
    const identity = JSON.stringify(constraints);
    const index = indexes.get(identity) ?? schemas.push(constraints) - 1;
    indexes.set(identity, index);
    return index;
  }

  function validatorsOf({ content = {} }: Response): Readonly<Record<string, ValidateFunction>> {
    const validators = {};
    for (const [type, { schema = {} }] of Object.entries(content)) {
      if (!JSON_TYPE.test(type)) continue;
      const index = indexOf(schema);
      const get = () => ajv.getSchema(`contract#/responses/${index}`);
      Object.defineProperty(validators, type, { get, enumerable: true });
    }
    return validators;
  }

  function headersOf({ headers = {} }: Response): Readonly<Record<string, boolean>> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, header]) => [
        name.toLowerCase(),
        resolve(contract, header).required === true,
      ]),
    );
  }

  function table<T>(cellsOf: (response: Response) => Readonly<Record<string, T>>): ByStatus<T> {
    const rows = operationsOf(contract).map(({ operationId, responses }) => {
      const cells = Object.entries(responses).map(([status, response]) => [
        status,
        cellsOf(resolve(contract, response)),
      ]);
      return [operationId, Object.fromEntries(cells)] as const;
    });
    return Object.fromEntries(rows);
  }

  return { responseValidators: table(validatorsOf), responseHeaders: table(headersOf) };
}

/** A validator of the legacy error model. */
export function legacyValidator(schema: Schema): ValidateFunction {
  return addFormats.default(new Ajv({ allErrors: true })).compile(constraintsOf(schema) as Schema);
}

export const { responseValidators, responseHeaders } = checksOf(openapi as unknown as Contract);

/**
 * Closes a schema: clients expect unknown members, but the service must not send any. Parts of `allOf` become one
 * object, because each of them alone would refuse the members of the others.
 */
function withoutUnknownMembers(schema: unknown, named: Readonly<Record<string, Schema>>): unknown {
  if (Array.isArray(schema)) return schema.map((each) => withoutUnknownMembers(each, named));
  if (typeof schema !== 'object' || schema === null) return schema;
  const whole = 'allOf' in schema ? wholeOf(schema as Schema, named) : schema;
  const members = Object.entries(whole).map(([keyword, value]) => [
    keyword,
    keyword === 'properties'
      ? Object.fromEntries(
          Object.entries(value as object).map(([name, each]) => [name, withoutUnknownMembers(each, named)]),
        )
      : withoutUnknownMembers(value, named),
  ]);
  return { ...Object.fromEntries(members), ...('properties' in whole && { additionalProperties: false }) };
}

/** One object with the members of all parts of an `allOf`. */
function wholeOf(schema: Schema, named: Readonly<Record<string, Schema>>): Schema {
  const { $ref, allOf = [], ...own } = schema as Schema & { $ref?: string; allOf?: readonly Schema[] };
  if ($ref !== undefined) return wholeOf(named[$ref.split('/').at(-1)!]!, named);
  const parts = [...allOf.map((part) => wholeOf(part, named)), own];
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as unknown,
    required: parts.flatMap(({ required = [] }) => required as string[]),
  }) as Schema;
}
