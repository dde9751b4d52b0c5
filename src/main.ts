import { runCommand } from './app/commands/command.ts';
import { onParentEnd } from './app/commands/parent-process.ts';
import { loadConfig } from './config/config.ts';
import { createLogger } from './platform/logger.ts';

const EXIT_WITHIN_MS = 10_000;

/** `npm start`: serves until SIGTERM or SIGINT, then drains. */
await runCommand(
  async () => {
    const config = loadConfig(process.env);
    const logger = createLogger(config.logLevel);
    // Most of a start is the loading of modules: a mistyped setting is refused before.
    const starting = import('./app/serve.ts').then(({ serve }) => serve(config, logger));

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
    if (config.startedByNpm) onParentEnd(() => stop('SIGTERM'));

    const { service, banner } = await starting;
    if (!stopping) process.stdout.write(`${banner}listening on ${service.baseUrl}\n`);
  },
  { signals: false },
);
