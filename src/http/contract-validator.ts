import type { ErrorObject, ValidateFunction } from 'ajv';
import { OpenAPIValidator, type Document, type Operation, type Request } from 'openapi-backend';
import type { TableRouter } from './table-router.ts';

type ValidationResult = ReturnType<OpenAPIValidator['validateRequest']>;

/** Validates with the generated validators alone, on a request that is parsed already. */
export class ContractValidator extends OpenAPIValidator {
  readonly #router: TableRouter;
  readonly #validators: Readonly<Record<string, readonly ValidateFunction[]>>;

  constructor(
    definition: Document,
    router: TableRouter,
    validators: Readonly<Record<string, readonly ValidateFunction[]>>,
  ) {
    // So openapi-backend hands the filled-in request on; nothing is coerced here.
    super({ definition, router, lazyCompileValidators: true, coerceTypes: true });
    this.#router = router;
    this.#validators = validators;
  }

  /** @returns all faults, and the request with the contract's defaults filled in */
  override validateRequest(request: Request, operation: Operation): ValidationResult {
    const { params, query, headers, requestBody } = this.#router.parseRequest(request, operation);
    const parts = { path: params, query, header: headers, cookie: {} };
    if (requestBody !== undefined) Object.assign(parts, { requestBody });
    const errors: ErrorObject[] = [];
    for (const validate of this.#validators[operation.operationId!]!) {
      if (!validate(parts)) errors.push(...validate.errors!);
    }
    const coerced = { ...request, query: parts.query, params: parts.path };
    return {
      valid: errors.length === 0,
      errors: errors.length === 0 ? null : errors,
      coerced,
    } as ValidationResult;
  }
}
