import { onTestFinished } from 'vitest';
import type { Logger } from '../../src/platform/logger.ts';
import type { AtEnd } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Starts the service in this process until the end of the test, because an idle one costs processor time, too. */
export async function startHere(
  environment: Record<string, string>,
  { logger, atEnd = onTestFinished }: { readonly logger?: Logger; readonly atEnd?: AtEnd } = {},
): Promise<TestService> {
  const service = await startTestService(environment, logger && { logger });
  atEnd(() => service.stop());
  return service;
}
