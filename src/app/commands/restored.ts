import { runCommand } from './command.ts';
import { loadConfig } from '../../config/config.ts';
import { createLogger } from '../../platform/logger.ts';
import { withServices } from '../service.ts';

/** `npm run restored`: makes data quiet that were restored from a copy, before any process of the service is started on them. */
await runCommand(async () => {
  const config = loadConfig(process.env);
  await withServices(config, createLogger(config.logLevel), async ({ restoration }, database) => {
    const done = await database.withStatementTimeout(0, ({ knex }) => restoration.quarantine(knex));
    for (const { what, rows } of done) process.stdout.write(`${String(rows).padStart(8)}  ${what}\n`);
    process.stdout.write(
      'Nothing that was due is sent, and everybody signs in anew. docs/operating.md says how to release it, and what a copy cannot know.\n',
    );
  });
});
