import { type Contract, type Response, type Schema, operationsOf, resolve } from './document.ts';
import { constraintsOf, constraintsOfEach, sourceAjv } from './schema.ts';
import { BANNER, standaloneModule } from './standalone.ts';

const JSON_TYPE = /^application\/([\w.-]+\+)?json$/;

/** The fields of `object` as JavaScript source, a line each. */
function source(object: Record<string, string>): string {
  return `{${Object.entries(object).map(([key, value]) => `\n${JSON.stringify(key)}: ${value}`)}}`;
}

/** Validators of every JSON answer that the contract declares, and the headers that go with it. */
export function responseValidators(contract: Contract): string {
  const places = new Map<string, number>();
  const schemas: Schema[] = [];

  function placeOf(schema: Schema): string {
    const constraints = constraintsOf(schema, ['default']) as Schema;
    const identity = JSON.stringify(constraints);
    const index = places.get(identity) ?? schemas.push(constraints) - 1;
    places.set(identity, index);
    return `functions.v${index}`;
  }

  function bodiesOf({ content = {} }: Response) {
    const bodies = Object.entries(content).filter(([type]) => JSON_TYPE.test(type));
    return Object.fromEntries(bodies.map(([type, { schema }]) => [type, placeOf(schema ?? {})]));
  }

  function headersOf({ headers = {} }: Response) {
    return Object.fromEntries(
      Object.entries(headers).map(([name, header]) => [
        name.toLowerCase(),
        String(resolve(contract, header).required === true),
      ]),
    );
  }

  function table(cellsOf: (response: Response) => Record<string, string>): string {
    const rows = operationsOf(contract).map(({ operationId, responses }) => {
      const cells = Object.entries(responses).map(([status, response]) => [
        status,
        source(cellsOf(resolve(contract, response))),
      ]);
      return [operationId, source(Object.fromEntries(cells))];
    });
    return source(Object.fromEntries(rows));
  }

  const validators = table(bodiesOf);
  const headers = table(headersOf);

  // Everything under one root keeps `#/components/schemas/…` references as they are: each component compiles once.
  const components = constraintsOfEach(contract.components?.schemas ?? {}, ['default']);
  const ajv = sourceAjv({ keywords: ['components', 'responses'] });
  ajv.addSchema({ components: { schemas: components }, responses: schemas }, 'contract');
  const refs = Object.fromEntries(schemas.map((_, index) => [`v${index}`, `contract#/responses/${index}`]));

  return standaloneModule(
    [{ name: 'functions', ajv, refs }],
    `export const responseValidators = ${validators};\n\nexport const responseHeaders = ${headers};\n`,
  );
}

/** The types of `response-validators.js`. */
export function responseValidatorTypes(): string {
  return `${BANNER}import type { ValidateFunction } from 'ajv';

/** operationId, status, media type. A declared status without a JSON body is there and empty. */
export declare const responseValidators: Record<string, Record<string, Record<string, ValidateFunction>>>;

/** operationId, status, name in lower case: whether the header must be sent. */
export declare const responseHeaders: Record<string, Record<string, Record<string, boolean>>>;
`;
}
