/** A JSON schema as OpenAPI 3.0 writes it. */
export type Schema = { [keyword: string]: unknown };

/** A place that holds a value or points to it in `components`. */
export type Ref<T> = T | { $ref: string };

export interface Response {
  description: string;
  content?: Record<string, { schema?: Schema }>;
  headers?: Record<string, Ref<{ required?: boolean }>>;
}

export interface Operation {
  operationId: string;
  responses: Record<string, Ref<Response>>;
}

/** The parts of the contract that the generator looks into. */
export interface Contract {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, unknown>>;
  components?: { schemas?: Record<string, Schema> };
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** All operations in the order of the document. */
export function operationsOf(contract: Contract): Operation[] {
  const operations = Object.values(contract.paths).flatMap((item) =>
    METHODS.filter((method) => item[method]).map((method) => item[method] as Operation),
  );
  const seen = new Set<string>();
  for (const { operationId } of operations) {
    if (!operationId || seen.has(operationId)) {
      throw new Error(`operationId missing or used twice: ${operationId}`);
    }
    seen.add(operationId);
  }
  return operations;
}

/** Follows `$ref`s within the contract until a value is reached. */
export function resolve<T extends object>(contract: Contract, node: Ref<T>): T {
  if (!('$ref' in node)) return node;
  const steps = node.$ref.replace(/^#\//, '').split('/');
  let target: unknown = contract;
  for (const step of steps) {
    target = (target as Record<string, unknown> | undefined)?.[
      step.replaceAll('~1', '/').replaceAll('~0', '~')
    ];
  }
  if (target === undefined) throw new Error(`cannot resolve ${node.$ref}`);
  return resolve(contract, target as Ref<T>);
}
