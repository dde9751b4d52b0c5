import { loadConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startService } from '../../src/app/service.ts';
import { runContender } from './contender.ts';

/** The whole service, as `npm start` runs it. */
runContender(async () => {
  const config = loadConfig({ ...process.env, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', DEMO: 'off' });
  const { baseUrl } = await startService(config, createLogger(config.logLevel));
  return Number(new URL(baseUrl).port);
});
