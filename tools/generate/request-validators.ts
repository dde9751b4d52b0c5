import type { Ajv, AnySchemaObject } from 'ajv';
import { type Document, OpenAPIBackend, ValidationContext } from 'openapi-backend';
import { constraintsOf } from './constraints.ts';
import { type Contract, operationsOf } from './document.ts';
import { sourceAjv } from './schema.ts';
import { BANNER, type Section, endingEarly, standaloneModule } from './standalone.ts';

/** More than a problem lists; an item of a list may have several errors that are reported as one. */
const FAULTS_OF_A_LOOP = 1000;

/** The two kinds of schema that openapi-backend compiles for a request, with the ajv options that differ. */
function sections() {
  return {
    [ValidationContext.RequestBody]: { name: 'bodies', ajv: sourceAjv(), refs: {}, drop: ['default'] },
    // The service reads numbers in a query before validation (src/http/contract/query.ts): ajv would accept 1e400.
    // So the default in the contract is the only one, and the handler sees it filled in.
    [ValidationContext.Params]: {
      name: 'parameters',
      ajv: sourceAjv({ useDefaults: true }),
      refs: {},
      drop: [],
    },
  } satisfies Record<string, Section & { drop: string[] }>;
}

/**
 * Compiles the request validators as openapi-backend would at start: the library builds its own schemas and passes
 * them to an ajv that records them.
 */
export async function requestValidators(contract: Contract): Promise<string> {
  const parts = sections();
  const known = new Map<string, string>();
  let recorded: string[] = [];

  function record(context: keyof typeof parts, schema: AnySchemaObject) {
    const { name, ajv, refs, drop } = parts[context];
    const constraints = constraintsOf(schema, drop) as AnySchemaObject;
    const identity = name + JSON.stringify(constraints);
    let place = known.get(identity);
    if (!place) {
      const key = `v${Object.keys(refs).length}`;
      ajv.addSchema(constraints, key);
      ajv.getSchema(key);
      Object.assign(refs, { [key]: key });
      place = `${name}.${key}`;
      known.set(identity, place);
    }
    recorded.push(place);
    return () => true;
  }

  const api = new OpenAPIBackend({
    definition: structuredClone(contract) as unknown as Document,
    quick: true,
    strict: true,
    customizeAjv: (_ajv, _options, context) => {
      if (context !== ValidationContext.RequestBody && context !== ValidationContext.Params) {
        throw new Error(`not a request schema: ${context}`);
      }
      return { compile: (schema: AnySchemaObject) => record(context, schema) } as unknown as Ajv;
    },
  });
  await api.init();

  const rows = new Map<string, string>();
  for (const operation of api.router.getOperations()) {
    recorded = [];
    try {
      api.validator.buildRequestValidatorsForOperation(operation);
    } catch (cause) {
      throw new Error(`the request of ${operation.operationId} does not compile: ${cause}`, { cause });
    }
    if (recorded.length === 0) continue;
    rows.set(
      operation.operationId!,
      `  ${JSON.stringify(operation.operationId)}: [${recorded.join(', ')}],\n`,
    );
  }
  const missing = operationsOf(contract).filter(({ operationId }) => !rows.has(operationId));
  if (missing.length > 0) {
    throw new Error(`no request validator for ${missing.map(({ operationId }) => operationId).join(', ')}`);
  }
  const source = standaloneModule(
    Object.values(parts),
    `export const requestValidators = {\n${[...rows.values()].join('')}};\n`,
  );
  return endingEarly(source, FAULTS_OF_A_LOOP);
}

/** The types of `request-validators.js`. */
export function requestValidatorTypes(): string {
  return `${BANNER}import type { ValidateFunction } from 'ajv';

/** For \`Object.assign(api.validator.requestValidators, requestValidators)\`. */
export declare const requestValidators: Record<string, ValidateFunction[]>;
`;
}
