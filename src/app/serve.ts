import type { Config } from '../config/config.ts';
import { demoBanner } from './demo/banner.ts';
import { prepareDemo } from './demo/demo.ts';
import type { Logger } from '../platform/logger.ts';
import { systemRandom } from '../platform/random.ts';
import { startService, type RunningService } from './service.ts';

/**
 * Starts the service, and prepares the demo application if it is enabled. A failure of the demo does not stop the
 * service.
 * @returns the service, and the terminal output of the demo, empty without one
 * @throws StartupError one line that says what is wrong
 */
export async function serve(
  config: Config,
  logger: Logger,
): Promise<{ service: RunningService; banner: string }> {
  const service = await startService(config, logger);
  if (!config.demo) return { service, banner: '' };
  try {
    const demo = await prepareDemo(service.services, service.database.knex, systemRandom);
    return { service, banner: demoBanner(service.services.addresses, demo, systemRandom) };
  } catch (error) {
    logger.warn({ err: error }, 'the demo application could not be prepared');
    return { service, banner: '' };
  }
}
