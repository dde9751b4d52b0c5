import { ApiError } from '../../foundation/errors/api-error.ts';

/** The path exists, but does not support the method. */
export class MethodNotAllowed extends ApiError<'METHOD_NOT_ALLOWED'> {
  /** The `Allow` header of the response. */
  readonly allow: string;

  /** @param methods the methods of the path; HEAD is implied by GET */
  constructor(methods: readonly string[]) {
    const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    super('METHOD_NOT_ALLOWED', { detail: `This path supports ${allow}.` });
    this.allow = allow;
  }
}
