import { parseArgs } from 'node:util';
import { createLogger } from '@stoplight/prism-core';
import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { createServer } from '@stoplight/prism-http-server';
import contract from '../generated/openapi.json' with { type: 'json' };
import { withErrorsByStatus } from './errors-by-status.ts';
import type { Contract } from './generate/document.ts';

/**
 * Serves the contract's examples with Prism. An error has the status and the body that the service would send:
 * `Prefer: code=403, example=HWID_MISMATCH` selects one.
 * @param level of the log
 */
export async function createMock(level: string) {
  const document = withErrorsByStatus(contract as unknown as Contract);
  return createServer(await getHttpOperationsFromSpec(document), {
    components: { logger: createLogger('mock', { level }) },
    config: {
      isProxy: false,
      checkSecurity: true,
      validateRequest: true,
      validateResponse: true,
      errors: false,
      mock: { dynamic: false },
      upstreamProxy: undefined,
    },
    cors: true,
  });
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '4010' } } });
  const mock = await createMock('info');
  console.log(`listening on ${await mock.listen(Number(values.port), '127.0.0.1')}`);
}
