import { ApiError } from '../errors/api-error.ts';

/** There is no such user, or he is another application's. */
export function userNotFound(): ApiError<'USER_NOT_FOUND'> {
  return new ApiError('USER_NOT_FOUND', { detail: 'The application has no user with this user_id.' });
}
