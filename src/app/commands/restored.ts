import { runCommand } from './command.ts';
import { loadConfig } from '../../config/config.ts';
import { createLogger } from '../../platform/logger.ts';
import { withServices } from '../service.ts';

/** `npm run restored`: prepares data that were restored from a copy, before any process of the service uses them. */
await runCommand(async () => {
  const config = loadConfig(process.env);
  await withServices(config, createLogger(config.logLevel), async ({ restoration }, database) => {
    const done = await database.withStatementTimeout(0, ({ knex }) => restoration.quarantine(knex));
    for (const { what, rows } of done) process.stdout.write(`${String(rows).padStart(8)}  ${what}\n`);
    process.stdout.write(
      'Pending deliveries are parked, and everyone must sign in again. docs/operating.md describes how to release ' +
        'deliveries, and what a copy does not contain.\n',
    );
  });
});
