// Opens a database like Latchkey: `node hold-database.ts <source folder> <data folder>`. Prints one line of JSON when
// it is open or could not be opened, and closes it on SIGTERM.
import { pino } from 'pino';

const [source, dataDir] = process.argv.slice(2) as [string, string];
const { openDatabase } = (await import(
  `${source}/platform/database/index.ts`
)) as typeof import('../../../../src/platform/database/index.ts');
const began = performance.now();
try {
  const database = await openDatabase({ dataDir, logger: pino({ enabled: false }) });
  const ms = Math.round(performance.now() - began);
  await database.pool.query('CREATE TABLE IF NOT EXISTS started (pid int)');
  await database.pool.query('INSERT INTO started VALUES ($1)', [process.pid]);
  process.once('SIGTERM', () => void database.close());
  console.log(JSON.stringify({ ms }));
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).name, message: (error as Error).message }));
}
