import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compose, type Composition } from './compose.ts';
import type { Config } from './config.ts';
import { startHousekeeping } from './housekeeping.ts';
import { prepareDrain } from './http/drain.ts';
import { openAnonymousNetworks } from './platform/anonymous-networks/index.ts';
import { openBroker, type Broker } from './platform/broker/index.ts';
import { systemClock, type Clock } from './platform/clock.ts';
import { openDatabase, type Database } from './platform/database/index.ts';
import { createNewId } from './platform/ids.ts';
import type { Logger } from './platform/logger.ts';
import { systemRandom, type Random } from './platform/random.ts';
import { StartupError } from './platform/startup-error.ts';
import type { Services } from './services.ts';

/** The clock and the randomness; the machine's own when left out. */
export interface Sources {
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A service that listens. */
export interface RunningService {
  /** `{base_url}`: the configured one, otherwise the address it listens on. */
  readonly baseUrl: string;
  readonly services: Services;
  readonly database: Database;
  /** Stops without failing a request, then ends the database connections and the embedded database. */
  stop(): Promise<void>;
}

/**
 * Opens the database, migrates it, and listens.
 * @throws StartupError one line that says what is wrong
 */
export async function startService(
  config: Config,
  logger: Logger,
  sources: Sources = {},
): Promise<RunningService> {
  return withDatabase(config, logger, sources, async ({ services, server, database, close }, setBaseUrl) => {
    const drain = prepareDrain(server);
    await listen(server, config);
    const baseUrl = config.baseUrl ?? addressOf(server.address() as AddressInfo);
    setBaseUrl(baseUrl);
    const housekeeping = startHousekeeping(services, logger);
    const membership = services.cluster.join();
    const relay = await services.relay.start();
    return {
      baseUrl,
      services,
      database,
      async stop() {
        await Promise.all([housekeeping.stop(), drain()]);
        await relay.stop();
        await membership.leave();
        await close();
      },
    };
  });
}

/**
 * Opens the database, migrates it, and uses the services once, without listening.
 * @throws StartupError one line that says what is wrong
 */
export async function useServices(
  config: Config,
  logger: Logger,
  work: (services: Services, database: Database, baseUrl: string) => Promise<void>,
): Promise<void> {
  await withDatabase(config, logger, {}, async ({ services, database, close }, setBaseUrl) => {
    const baseUrl = config.baseUrl ?? addressOf({ address: config.host, port: config.port });
    setBaseUrl(baseUrl);
    await work(services, database, baseUrl);
    await close();
  });
}

/** What a service is made of, and what ends it all. */
interface Parts extends Composition {
  readonly database: Database;
  close(): Promise<void>;
}

/** Closes what was opened again when anything fails on the way. */
async function withDatabase<Result>(
  config: Config,
  logger: Logger,
  { clock = systemClock, random = systemRandom }: Sources,
  work: (parts: Parts, setBaseUrl: (url: string) => void) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, logger });
  let known = '';
  const baseUrl = () => known;
  const webUrl = () => config.webUrl ?? known;
  const nodeId = createNewId(clock, random)('node');
  let broker: Broker | undefined;
  const close = async () => {
    await broker?.close();
    await database.close();
  };
  try {
    broker = await openBroker({ brokerUrl: config.brokerUrl, nodeId, logger });
    const networks = await openAnonymousNetworks({ file: config.vpnNetworks, logger });
    const surroundings = {
      config,
      database,
      broker,
      networks,
      nodeId,
      clock,
      random,
      logger,
      baseUrl,
      webUrl,
    };
    const parts = await compose(surroundings);
    return await work({ ...parts, database, close }, (url) => (known = url));
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(server: Server, { host, port }: Config): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  try {
    await promise;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new StartupError(
        `PORT ${port} on ${host} is in use: set PORT to another one, or to 0 for a free one`,
      );
    }
    if (code === 'EACCES') {
      throw new StartupError(`PORT ${port} may not be used by this account: set PORT to one above 1023`);
    }
    throw new StartupError(`HOST ${host} cannot be listened on (${code})`);
  }
}

function addressOf({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
