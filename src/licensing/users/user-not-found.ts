import { ApiError } from '../../foundation/errors/api-error.ts';
import type { ErrorCode } from '../../foundation/errors/catalog.ts';

/** The user does not exist, or belongs to another application. */
export function userNotFound(): ApiError<'USER_NOT_FOUND'> {
  return new ApiError('USER_NOT_FOUND', { detail: 'The application has no user with this user_id.' });
}

/** The refusals of a bulk operation for ids that are not among the users it changes. */
export function refusalsOf(ids: readonly string[], userIds: readonly string[]): Map<string, ErrorCode> {
  const known = new Set(userIds);
  return new Map(ids.filter((id) => !known.has(id)).map((id) => [id, 'USER_NOT_FOUND']));
}
