import { join } from 'node:path';
import { createServer as createTcpServer, type AddressInfo, type Server as NetServer } from 'node:net';
import { compose, type Composition } from './compose/compose.ts';
import type { Config } from '../config/config.ts';
import { startHousekeeping } from './housekeeping.ts';
import { prepareDrain } from '../http/server/drain.ts';
import { canonicalAddress } from '../platform/address.ts';
import { openAnonymousNetworks } from '../platform/anonymous-networks/index.ts';
import { openBlobs } from '../platform/blobs/index.ts';
import { openMqttServer } from '../platform/mqtt/index.ts';
import { openBroker } from '../platform/broker/index.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { openDatabase, openDatabaseClock, type Database } from '../platform/database/index.ts';
import { createNewId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { openMail } from '../platform/mail/index.ts';
import { defaultMailbox } from '../platform/mail/mailbox.ts';
import { systemRandom, type Random } from '../platform/random.ts';
import { StartupError } from '../platform/startup-error.ts';
import type { Services } from '../services.ts';

/**
 * Replaceable parts for tests: the clock, the machine's time, randomness, password hashing, four intervals, the
 * deadline of a request and the time limit of a statement. By default, the service's own.
 */
export interface Sources {
  readonly clock?: Clock;
  readonly machineClock?: Clock;
  readonly random?: Random;
  readonly argon2?: Parameters<typeof compose>[0]['argon2'];
  readonly processorPauseMs?: number;
  readonly housekeepingPauseMs?: number;
  /** Whether housekeeping runs; true by default. */
  readonly housekeeping?: boolean;
  readonly heartbeatTickMs?: number;
  readonly lingerMs?: number;
  readonly deadlineMs?: number;
  readonly statementTimeoutMs?: number;
}

/** A running service. */
export interface RunningService {
  /** `{base_url}`: the configured one, otherwise the address of the listening socket. */
  readonly baseUrl: string;
  /** The port of MQTT over TCP; undefined without MQTT_PORT. */
  readonly mqttPort: number | undefined;
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
  return withDatabase(
    config,
    logger,
    sources,
    async ({ services, server, payments, database, opened }, setUrls) => {
      const drain = prepareDrain(server, sources.lingerMs);
      const membership = services.cluster.join();
      opened.defer(() => membership.leave());
      // Before any client connects, so that connected clients miss no event.
      const relay = await services.relay.start();
      opened.defer(() => relay.stop());
      const brokerFeed = await services.brokerFeed?.start();
      opened.defer(() => brokerFeed?.stop());
      // After the last request, so that its use is written too.
      const lastUses = services.lastUses.start();
      opened.defer(() => lastUses.stop());
      // Stops after the last request and before the relay.
      const refusedLogins = services.refusedLogins.start();
      opened.defer(() => refusedLogins.stop());
      // Concurrently, because each of them may take most of the available time.
      const serving: (() => unknown)[] = [];
      opened.defer(() => together(serving));
      const realtime = services.realtime.start(sources.heartbeatTickMs);
      serving.push(() => realtime.stop());
      // Before any request, because requests enqueue mail.
      const mails = await services.mails.start();
      serving.push(() => mails.stop());
      const mqttListener = await listenForMqtt(services, config);
      if (mqttListener) serving.push(() => mqttListener.close());
      await listen(server, config);
      serving.push(drain);
      const localUrl = addressOf(server.address() as AddressInfo);
      const baseUrl = config.baseUrl ?? localUrl;
      setUrls(baseUrl, localUrl);
      const signingKeys = services.signingKeys.start();
      serving.push(() => signingKeys.stop());
      const processor = await payments.start();
      serving.push(() => processor.stop());
      if (sources.housekeeping ?? true) {
        const housekeeping = startHousekeeping(services, logger, sources.housekeepingPauseMs);
        serving.push(() => housekeeping.stop());
      }
      const webhooks = await services.webhooks.start();
      serving.push(() => webhooks.stop());
      const securityEvents = await services.securityEvents.start();
      serving.push(() => securityEvents.stop());
      return {
        baseUrl,
        mqttPort: mqttListener?.port,
        services,
        database,
        stop: () => opened.disposeAsync(),
      };
    },
  );
}

/**
 * Opens the database, migrates it, and uses the services once, without listening.
 * @throws StartupError one line that says what is wrong
 */
export async function withServices(
  config: Config,
  logger: Logger,
  work: (services: Services, database: Database, baseUrl: string) => Promise<void>,
): Promise<void> {
  await withDatabase(config, logger, {}, async ({ services, database, opened }, setUrls) => {
    const baseUrl = config.baseUrl ?? addressOf({ address: config.host, port: config.port });
    setUrls(baseUrl, baseUrl);
    await work(services, database, baseUrl);
    await opened.disposeAsync();
  });
}

/** The parts of a service. */
interface Parts extends Composition {
  readonly database: Database;
  /** Closes what was opened and started, in reverse order. */
  readonly opened: AsyncDisposableStack;
}

/** Closes what was opened and started if a later step fails. */
async function withDatabase<Result>(
  config: Config,
  logger: Logger,
  {
    clock: given,
    machineClock = systemClock,
    random = systemRandom,
    argon2,
    processorPauseMs,
    deadlineMs,
    statementTimeoutMs,
  }: Sources,
  work: (parts: Parts, setUrls: (baseUrl: string, localUrl: string) => void) => Promise<Result>,
): Promise<Result> {
  const opened = new AsyncDisposableStack();
  let known = { baseUrl: '', localUrl: '' };
  const baseUrl = () => known.baseUrl;
  const localUrl = () => known.localUrl;
  const webUrl = () => config.webUrl ?? known.baseUrl;
  try {
    const { databaseUrl, databaseDirectUrl: directUrl, dataDir, brokerUrl, filesUrl, smtpUrl } = config;
    const database = await openDatabase({
      databaseUrl,
      directUrl,
      dataDir,
      logger,
      ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
    });
    opened.defer(() => database.close());
    const time = await openDatabaseClock({ pool: database.pool, logger, machine: machineClock });
    opened.defer(() => time.stop());
    const clock = given ?? time;
    const skewMs = () => (given ? 0 : time.skewMs());
    const nodeId = createNewId(clock, random)('node');
    const broker = await openBroker({ brokerUrl, nodeId, logger });
    opened.defer(() => broker.close());
    const blobs = await openBlobs({ filesUrl, folder: join(dataDir, 'files') });
    opened.defer(() => blobs.close());
    const from = () => config.mailFrom ?? defaultMailbox(webUrl());
    const mail = await openMail({ smtpUrl, folder: join(dataDir, 'mail'), from }, { clock, random, logger });
    opened.defer(() => mail.close());
    const mqtt = await openMqttServer(logger);
    opened.defer(() => mqtt.close());
    const networks = await openAnonymousNetworks({ file: config.vpnNetworks, logger });
    const surroundings = {
      config,
      database,
      broker,
      blobs,
      mail,
      mqtt,
      networks,
      nodeId,
      clock,
      skewMs,
      random,
      argon2,
      processorPauseMs,
      deadlineMs,
      logger,
      baseUrl,
      webUrl,
      localUrl,
    };
    const parts = await compose(surroundings);
    return await work({ ...parts, database, opened }, (base, local) => {
      known = { baseUrl: base, localUrl: local };
    });
  } catch (error) {
    await opened
      .disposeAsync()
      .catch((cause: unknown) => logger.debug({ err: cause }, 'the failed start could not be undone'));
    throw error;
  }
}

/** Ends several parts concurrently. @throws the first error, after all have ended */
async function together(ends: readonly (() => unknown)[]): Promise<void> {
  const ended = await Promise.allSettled(ends.map(async (end) => end()));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

interface MqttListener {
  readonly port: number;
  close(): void;
}

/** Listens for MQTT over TCP, if configured. Connections end with the services. */
async function listenForMqtt(
  { realtime }: Services,
  { host, mqttPort }: Config,
): Promise<MqttListener | undefined> {
  if (mqttPort === undefined) return undefined;
  const server = createTcpServer({ noDelay: true, keepAlive: true }, (socket) => {
    const { remoteAddress = '0.0.0.0' } = socket;
    try {
      realtime.acquireMqttSlot({ address: canonicalAddress(remoteAddress) ?? remoteAddress }).serve(socket);
    } catch {
      // Before CONNECT, MQTT cannot report that the node is full.
      socket.destroy();
    }
  });
  await listen(server, { host, port: mqttPort }, 'MQTT_PORT');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

async function listen(
  server: NetServer,
  { host, port }: Pick<Config, 'host' | 'port'>,
  setting = 'PORT',
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  try {
    await promise;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new StartupError(
        `${setting} ${port} on ${host} is in use: set ${setting} to another one, or to 0 for a free one`,
      );
    }
    if (code === 'EACCES') {
      throw new StartupError(
        `${setting} ${port} may not be used by this account: set ${setting} to one above 1023`,
      );
    }
    throw new StartupError(`HOST ${host} cannot be used (${code})`);
  }
}

function addressOf({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
