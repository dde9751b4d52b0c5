import type { Handlers } from './handler.ts';
import * as all from './index.ts';

/** The handlers by operationId. */
export const handlers: Handlers = all;
