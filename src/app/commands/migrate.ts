import { loadConfig } from '../../config/config.ts';
import { migrate } from '../../migrations/index.ts';
import { openDatabase } from '../../platform/database/index.ts';
import { installJobs } from '../../platform/jobs/index.ts';
import { createLogger } from '../../platform/logger.ts';
import { runCommand } from './command.ts';

/**
 * `npm run migrate`: migrates the database to this version's schema, for deployments that migrate before they start.
 */
await runCommand(async () => {
  const config = loadConfig(process.env);
  const logger = createLogger(config.logLevel);
  const { databaseUrl, databaseDirectUrl: directUrl, dataDir } = config;
  const database = await openDatabase({ databaseUrl, directUrl, dataDir, logger });
  try {
    const ran = await database.withStatementTimeout(0, async ({ knex }) => {
      const names = await migrate(knex);
      await installJobs(knex, logger);
      return names;
    });
    process.stdout.write(ran.length === 0 ? 'the schema is up to date\n' : `migrated: ${ran.join(', ')}\n`);
  } finally {
    await database.close();
  }
});
