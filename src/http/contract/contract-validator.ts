import type { ErrorObject, ValidateFunction } from 'ajv';
import { OpenAPIValidator, type Document, type Operation, type Request } from 'openapi-backend';
import { choiceErrors, hasChoices, type MarkedSchema } from './exactly-one.ts';
import { requestSchema } from './redaction.ts';
import type { ContractRequest, TableRouter } from './table-router.ts';

/** More than a problem lists. */
const MOST_CHOICE_ERRORS = 101;

type ValidationResult = ReturnType<OpenAPIValidator['validateRequest']>;

/** Validates requests that are already parsed, with the generated validators alone. */
export class ContractValidator extends OpenAPIValidator {
  readonly #router: TableRouter;
  readonly #validators: Readonly<Record<string, readonly ValidateFunction[]>>;
  /** The request schemas with `x-exactly-one-of`, by operationId. */
  readonly #choices: ReadonlyMap<string, MarkedSchema>;

  constructor(
    definition: Document,
    router: TableRouter,
    validators: Readonly<Record<string, readonly ValidateFunction[]>>,
  ) {
    super({ definition, router, lazyCompileValidators: true });
    this.#router = router;
    this.#validators = validators;
    this.#choices = new Map(
      router.getOperations().flatMap((operation) => {
        const schema: MarkedSchema | undefined = requestSchema(operation);
        return schema && hasChoices(schema) ? [[operation.operationId!, schema]] : [];
      }),
    );
  }

  /**
   * Applies the contract's defaults to the request.
   * @returns all faults; of a list in which every item is wrong, only the first ones
   */
  override validateRequest(request: Request, operation: Operation): ValidationResult {
    const { params, query, headers, requestBody } = this.#router.parseRequest(request, operation);
    const parts = { path: params, query, header: headers, cookie: {} };
    if (requestBody !== undefined) Object.assign(parts, { requestBody });
    let errors: ErrorObject[] = this.#validators[operation.operationId!]!.flatMap((validate) =>
      validate(parts) ? [] : validate.errors!,
    );
    const schema = this.#choices.get(operation.operationId!);
    if (schema) errors.push(...choiceErrors(schema, requestBody, '/requestBody').take(MOST_CHOICE_ERRORS));
    // A body that is not JSON is a stream, which the schema of the JSON alternative does not cover.
    if ((request as ContractRequest).upload) errors = errors.filter((error) => !isMissingBody(error));
    return { valid: errors.length === 0, errors: errors.length === 0 ? null : errors };
  }
}

function isMissingBody({ instancePath, params }: ErrorObject): boolean {
  return instancePath === '' && params['missingProperty'] === 'requestBody';
}
