import { ApiError } from '../../foundation/errors/api-error.ts';

/** Replaces an error about an application of the developer, which a reseller cannot see. */
export function replaceError(
  code: 'APPLICATION_NOT_FOUND',
  other: 'PRICE_NOT_FOUND' | 'LICENSE_NOT_FOUND' | 'USER_NOT_FOUND',
): (error: unknown) => never {
  return (error) => {
    if (error instanceof ApiError && error.code === code) throw new ApiError(other, { cause: error });
    throw error;
  };
}
