import { runCommand } from './command.ts';
import { loadConfig, type Config } from './config.ts';
import { demoBanner } from './demo/banner.ts';
import { prepareDemo } from './demo/demo.ts';
import { createLogger, type Logger } from './platform/logger.ts';
import { systemRandom } from './platform/random.ts';
import { startService, type RunningService } from './service.ts';

const EXIT_WITHIN_MS = 10_000;

/** `npm start`: serves until SIGTERM or SIGINT, then drains. */
await runCommand(
  async () => {
    const config = loadConfig(process.env);
    const logger = createLogger(config.logLevel);
    const starting = start(config, logger);

    let stopping = false;
    const stop = async (signal: NodeJS.Signals) => {
      if (stopping) return;
      stopping = true;
      logger.info({ signal }, 'stopping');
      setTimeout(() => process.exit(1), EXIT_WITHIN_MS).unref();
      const started = await starting.catch(() => undefined);
      await started?.service.stop();
      process.exit();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);

    const { service, banner } = await starting;
    if (!stopping) process.stdout.write(`${banner}listening on ${service.baseUrl}\n`);
  },
  { signals: false },
);

async function start(config: Config, logger: Logger): Promise<{ service: RunningService; banner: string }> {
  const service = await startService(config, logger);
  if (!config.demo) return { service, banner: '' };
  try {
    const demo = await prepareDemo(service.services, service.database.knex, systemRandom);
    return { service, banner: demoBanner(service.baseUrl, demo, systemRandom) };
  } catch (error) {
    logger.warn({ err: error }, 'the demo application could not be prepared');
    return { service, banner: '' };
  }
}
