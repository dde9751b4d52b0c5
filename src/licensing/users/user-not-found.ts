import { ApiError } from '../../foundation/errors/api-error.ts';

/** The user does not exist, or belongs to another application. */
export function userNotFound(): ApiError<'USER_NOT_FOUND'> {
  return new ApiError('USER_NOT_FOUND', { detail: 'The application has no user with this user_id.' });
}
