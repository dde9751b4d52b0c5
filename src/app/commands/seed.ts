import { runCommand } from './command.ts';
import { loadConfig } from '../../config/config.ts';
import { demoBanner } from '../demo/banner.ts';
import { prepareDemo } from '../demo/demo.ts';
import { createLogger } from '../../platform/logger.ts';
import { systemRandom } from '../../platform/random.ts';
import { withServices } from '../service.ts';

/** `npm run seed`: creates the demo application if the database has none, and shows how to use it. */
await runCommand(async () => {
  const config = loadConfig(process.env);
  await withServices(config, createLogger(config.logLevel), async (services, { knex }) => {
    process.stdout.write(
      demoBanner(services.addresses, await prepareDemo(services, knex, systemRandom), systemRandom),
    );
  });
});
