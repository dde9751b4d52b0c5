import type { ErrorObject } from 'ajv';
import { ApiError, faultsDetail, type Fault } from '../../foundation/errors/api-error.ts';

/** The faults of the formats that this service defines. */
const FORMAT_FAULTS: ReadonlyMap<string, string> = new Map([
  [
    'visible-name',
    'must have a visible character, no control, invisible, private-use, or unassigned characters, and at most ' +
      '4 marks on one character',
  ],
  [
    'visible-identifier',
    'must have a visible character, no control, format, invisible, private-use, or unassigned characters, ' +
      'and at most 4 marks on one character',
  ],
]);

/**
 * The error for a request that the contract's validators refuse. It lists each fault once, with a JSON Pointer into the
 * body. Of more than 100 faults it lists the first 100, and `detail` says so.
 * @param errors from the generated validators
 */
export function validationFailed(errors: readonly ErrorObject[]): ApiError {
  const faults = new Map<string, Fault>();
  for (const error of errors) {
    const fault = toFault(error);
    faults.set(`${fault.pointer} ${fault.detail}`, fault);
  }
  return new ApiError('VALIDATION_FAILED', {
    detail: faultsDetail(faults.size),
    errors: [...faults.values()],
  });
}

function toFault(error: ErrorObject): Fault {
  const { missingProperty, additionalProperty } = error.params as Record<string, string | undefined>;
  const member = missingProperty ?? additionalProperty;
  const path = error.instancePath + (member === undefined ? '' : `/${escapePointer(member)}`);
  return { pointer: toPointer(path), detail: detailOf(error) };
}

/**
 * The validators check one object with all parts of a request; a pointer to a fault of the body is relative to the
 * body.
 */
function toPointer(path: string): string {
  return path.startsWith('/requestBody') ? path.slice('/requestBody'.length) : path.slice(1);
}

function detailOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a parameter of this operation';
    case 'pattern':
      return 'does not match the required pattern';
    case 'format':
      return FORMAT_FAULTS.get(error.params['format'] as string) ?? error.message!;
    case 'enum':
      return `must be one of ${(error.params['allowedValues'] as unknown[]).join(', ')}`;
    default:
      return error.message ?? 'is not valid';
  }
}

function escapePointer(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1');
}
