import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { Aedes, type AedesOptions, type AuthenticateError } from 'aedes';
import { connectAsync } from 'mqtt';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { BrokerUnavailableError, openBroker, type Broker } from '../../src/platform/broker/index.ts';
import { StartupError } from '../../src/platform/startup-error.ts';
import { freePort } from '../support/free-port.ts';
import { runToEnd } from '../support/processes.ts';
import { captureLog, ERROR, INFO, type LogEntry } from '../support/collected-log.ts';
import { SERVER, startBroker, type BrokerProcess } from './support/broker-process.ts';
import { makeCertificate } from './support/certificate.ts';
import { startScriptedBroker } from './support/scripted-broker.ts';

let opened = 0;

interface Opened {
  readonly broker: Broker;
  readonly entries: LogEntry[];
  readonly healthTopic: string;
}

/** Opens a broker, which is closed at the end of the test. */
async function open(brokerUrl: string | undefined): Promise<Opened> {
  const nodeId = `node_${(opened += 1)}`;
  const { logger, entries } = captureLog();
  const broker = await openBroker({ brokerUrl, nodeId, logger });
  onTestFinished(() => broker.close());
  return { broker, entries, healthTopic: `latchkey/v2/health/${nodeId}` };
}

const unavailable = (work: Promise<void>) => expect(work).rejects.toThrow(BrokerUnavailableError);
const responses = (broker: Broker) => expect.poll(() => broker.ping()).toBeUndefined();
const log = (entries: LogEntry[]) => entries.map(({ level, msg }) => [level, msg]);

const LOST = [ERROR, 'the broker is not reachable'];
const BACK = [INFO, 'the broker is reachable again'];

/** Waits until the broker is known to be unavailable, so that callers no longer wait for it. */
async function isKnownAway(entries: LogEntry[]): Promise<void> {
  await expect.poll(() => log(entries)).toContainEqual(LOST);
}

let port: number;

beforeAll(async () => {
  port = await freePort();
  await startBroker(port);
});

describe.each([
  ['the embedded one', () => undefined],
  [SERVER, () => `mqtt://127.0.0.1:${port}`],
])('a broker: %s', (_title, url) => {
  let broker: Broker;
  let entries: LogEntry[];

  beforeEach(async () => {
    ({ broker, entries } = await open(url()));
  });

  test('says whether it is embedded', () => {
    expect(broker.embedded).toBe(url() === undefined);
  });

  test.each([
    ['text', '{"type":"user.banned"}'],
    ['nothing', ''],
    ['any character', 'ключ 🔑 \0 \n'],
    ['a megabyte', 'x'.repeat(1_000_000)],
  ])('takes a message: %s', async (_what, payload) => {
    await broker.publish('latchkey/v2/apps/app_1/events', payload);
    expect(entries).toEqual([]);
  });

  test('accepts 300 messages at once', async () => {
    const publish = (_: unknown, n: number) =>
      broker.publish(`latchkey/v2/apps/app_${n % 7}/events`, String(n));
    await Promise.all(Array.from({ length: 300 }, publish));
    expect(entries).toEqual([]);
  });

  test('delivers our own messages to us, repeatedly', async () => {
    for (let n = 0; n < 5; n += 1) await broker.ping();
    await Promise.all(Array.from({ length: 500 }, () => broker.ping()));
    expect(entries).toEqual([]);
  });

  test('responds while messages are in transit', async () => {
    const messages = Array.from({ length: 100 }, (_, n) => broker.publish('latchkey/v2/test', String(n)));
    await Promise.all([broker.ping(), ...messages]);
  });

  test.each([
    '',
    '#',
    'latchkey/+/events',
    'latchkey/#',
    '$SYS/broker',
    '$share/group/topic',
    'latchkey/\0',
    'latchkey/\n',
    'latchkey/\u007f',
    'latchkey/\ud800',
    'ä'.repeat(40_000),
    'x/'.repeat(100),
  ])('refuses the topic %j, and keeps working', async (topic) => {
    const message = broker.publish('latchkey/v2/test', 'on its way');
    await expect(broker.publish(topic, 'x')).rejects.toThrow(TypeError);
    await message;
    await broker.ping();
    expect(entries).toEqual([]);
  });

  test('accepts the longest and the deepest topic', async () => {
    await broker.publish('x'.repeat(65_535), 'x');
    await broker.publish(Array(100).fill('x').join('/'), 'x');
    await broker.ping();
  });

  test('is closed once, and does nothing afterwards', async () => {
    await broker.ping();
    await Promise.all([broker.close(), broker.close()]);
    await broker.close();
    await unavailable(broker.ping());
    await unavailable(broker.publish('latchkey/v2/test', 'x'));
    expect(entries).toEqual([]);
  });

  test('can be closed immediately after it was opened', async () => {
    await broker.close();
    await unavailable(broker.ping());
    expect(entries).toEqual([]);
  });

  test('settles what is in progress when it is closed', async () => {
    await broker.ping();
    const underWay = [
      broker.ping(),
      ...Array.from({ length: 100 }, () => broker.publish('latchkey/v2/test', 'x')),
    ];
    const [settled] = await Promise.all([Promise.allSettled(underWay), broker.close()]);
    for (const outcome of settled) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(BrokerUnavailableError);
    }
  });

  test('leaves nothing that prevents the exit of the process', async () => {
    const environment: Record<string, string> = {};
    const brokerUrl = url();
    if (brokerUrl !== undefined) environment['BROKER_URL'] = brokerUrl;
    const ended = await runToEnd(environment, 'test/conformance/support/open-and-close.ts');
    expect(ended).toEqual({ code: 0, stdout: 'response', stderr: '' });
  });
});

describe(`what others see: ${SERVER}`, () => {
  async function observe(topic: string): Promise<{ topic: string; text: string; retain: boolean }[]> {
    const observer = await connectAsync(`mqtt://127.0.0.1:${port}`);
    onTestFinished(() => observer.endAsync(true));
    const seen: { topic: string; text: string; retain: boolean }[] = [];
    observer.on('message', (from, payload, { retain }) => {
      seen.push({ topic: from, text: payload.toString(), retain });
    });
    await observer.subscribeAsync(topic, { qos: 1 });
    return seen;
  }

  test('messages arrive as they were published, in order, and none is kept for later', async () => {
    const { broker } = await open(`mqtt://127.0.0.1:${port}`);
    const topic = 'latchkey/v2/apps/app_seen/events';
    const seen = await observe(topic);
    const texts = ['', 'ключ 🔑 \0 \n', ...Array.from({ length: 200 }, (_, n) => `message ${n}`)];
    await Promise.all(texts.map((text) => broker.publish(topic, text)));
    await expect.poll(() => seen.length).toBe(texts.length);
    expect(seen).toEqual(texts.map((text) => ({ topic, text, retain: false })));
    const later = await observe(topic);
    await broker.publish(topic, 'the end');
    await expect.poll(() => later).toEqual([{ topic, text: 'the end', retain: false }]);
  });

  test('concurrent pings are one message', async () => {
    const { broker, healthTopic } = await open(`mqtt://127.0.0.1:${port}`);
    const seen = await observe(healthTopic);
    await Promise.all(Array.from({ length: 300 }, () => broker.ping()));
    await broker.ping();
    await broker.publish(healthTopic, 'the end');
    await expect.poll(() => seen.at(-1)?.text).toBe('the end');
    expect(seen).toHaveLength(3);
  });

  test('another message on the health topic is not a response', async () => {
    const { broker, healthTopic } = await open(`mqtt://127.0.0.1:${port}`);
    await broker.ping();
    await broker.publish(healthTopic, '2');
    await broker.ping();
    await broker.publish(healthTopic, 'x'.repeat(100_000));
    await broker.ping();
  });
});

describe(`a broker that is lost: ${SERVER}`, () => {
  const SECRET = 'correct horse battery staple';
  let ownPort: number;
  let url: string;
  let process_: BrokerProcess | undefined;

  beforeEach(async () => {
    ownPort = await freePort();
    url = `mqtt://someone:${encodeURIComponent(SECRET)}@127.0.0.1:${ownPort}`;
    process_ = undefined;
    return () => process_?.kill();
  });

  test('unavailable at the start: opening does not wait, and the broker is used once it is available', async () => {
    const { broker, entries } = await open(url);
    await unavailable(broker.ping());
    await isKnownAway(entries);
    await unavailable(broker.ping());
    await unavailable(broker.publish('latchkey/v2/test', 'x'));

    process_ = await startBroker(ownPort);
    await responses(broker);
    await broker.publish('latchkey/v2/test', 'x');
    expect(log(entries)).toEqual([LOST, BACK]);
    expect(entries).toMatchObject([{ broker: `127.0.0.1:${ownPort}`, err: { code: 'ECONNREFUSED' } }, {}]);
    expect(JSON.stringify(entries)).not.toMatch(/correct|horse|someone/);
  });

  test('killed, and back again, twice', async () => {
    process_ = await startBroker(ownPort);
    const { broker, entries } = await open(url);
    await broker.ping();
    for (const times of [1, 2]) {
      await process_.kill();
      await expect.poll(() => entries.length).toBe(times * 2 - 1);
      await unavailable(broker.ping());
      await unavailable(broker.publish('latchkey/v2/test', 'x'));
      process_ = await startBroker(ownPort);
      await responses(broker);
      await broker.publish('latchkey/v2/test', 'x');
    }
    expect(log(entries)).toEqual([LOST, BACK, LOST, BACK]);
  });

  test('killed under load: what is in progress fails or is accepted, nothing hangs', async () => {
    process_ = await startBroker(ownPort);
    const { broker } = await open(url);
    await broker.ping();
    const underWay = Array.from({ length: 500 }, (_, n) => broker.publish('latchkey/v2/test', String(n)));
    const [settled] = await Promise.all([Promise.allSettled([broker.ping(), ...underWay]), process_.kill()]);
    for (const outcome of settled) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(BrokerUnavailableError);
    }
  });

  test('hanging: fails in time, and responds when it continues', async () => {
    process_ = await startBroker(ownPort);
    const { broker, entries } = await open(url);
    await broker.ping();
    process_.hang();
    await Promise.all([
      ...Array.from({ length: 100 }, () => unavailable(broker.ping())),
      unavailable(broker.publish('latchkey/v2/test', 'x')),
    ]);
    await isKnownAway(entries);
    await unavailable(broker.ping());
    process_.resume();
    await responses(broker);
    expect(log(entries)).toEqual([LOST, BACK]);
  });

  test('hanging: can still be closed', async () => {
    process_ = await startBroker(ownPort);
    const { broker } = await open(url);
    await broker.ping();
    process_.hang();
    const message = broker.publish('latchkey/v2/test', 'x');
    await Promise.all([unavailable(message), broker.close()]);
  });
});

/** Listens on the loopback until the end of the test. @returns its port */
async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

async function createAedes(options?: AedesOptions): Promise<Aedes> {
  const aedes = await Aedes.createBroker(options);
  onTestFinished(() => new Promise<void>((resolve) => aedes.close(resolve)));
  return aedes;
}

describe('a server at the address', () => {
  test('accepts and never responds: fails in time, and closes', async () => {
    const { broker, entries } = await open(`mqtt://127.0.0.1:${await listen(createServer())}`);
    await Promise.all(Array.from({ length: 100 }, () => unavailable(broker.ping())));
    await unavailable(broker.publish('latchkey/v2/test', 'x'));
    await isKnownAway(entries);
    await unavailable(broker.ping());
    await broker.close();
    expect(log(entries)).toEqual([LOST]);
  });

  test('is closed during the first attempt', async () => {
    const { broker, entries } = await open(`mqtt://127.0.0.1:${await listen(createServer())}`);
    const ping = unavailable(broker.ping());
    await broker.close();
    await ping;
    expect(entries).toEqual([]);
  });

  test('uses another protocol', async () => {
    let connections = 0;
    const web = createServer((socket) => {
      connections += 1;
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
    });
    const { broker, entries } = await open(`mqtt://127.0.0.1:${await listen(web)}`);
    await unavailable(broker.ping());
    await expect.poll(() => connections).toBeGreaterThan(2);
    await unavailable(broker.ping());
    expect(log(entries)).toEqual([LOST]);
  });

  test('supports MQTT 3.1.1 only', async () => {
    const aedes = await createAedes();
    const { broker, entries } = await open(
      `mqtt://127.0.0.1:${await listen(createServer((socket) => void aedes.handle(socket)))}`,
    );
    await broker.ping();
    await broker.publish('latchkey/v2/test', 'x');
    expect(entries).toEqual([]);
  });

  test('requires a user and a password: they are sent as in the URL', async () => {
    const seen: unknown[] = [];
    const aedes = await createAedes({
      authenticate: (_client, username, password, done) => {
        seen.push([username, password?.toString()]);
        done(null, true);
      },
    });
    const ownPort = await listen(createServer((socket) => void aedes.handle(socket)));
    const { broker } = await open(`mqtt://us%40er:p%3Aa%2Fss@127.0.0.1:${ownPort}`);
    await broker.ping();
    expect(seen).toEqual([['us@er', 'p:a/ss']]);
  });

  test('refuses the password: fails, tries again, and the log does not contain it', async () => {
    let requested = 0;
    const aedes = await createAedes({
      authenticate: (_client, _username, _password, done) => {
        requested += 1;
        done(Object.assign(new Error('wrong'), { returnCode: 4 }) as AuthenticateError, false);
      },
    });
    const ownPort = await listen(createServer((socket) => void aedes.handle(socket)));
    const { broker, entries } = await open(`mqtt://someone:horse@127.0.0.1:${ownPort}`);
    await unavailable(broker.ping());
    await expect.poll(() => requested).toBeGreaterThan(2);
    expect(log(entries)).toEqual([LOST]);
    expect(entries).toMatchObject([{ err: { message: expect.stringMatching(/Bad username or password/) } }]);
    expect(JSON.stringify(entries)).not.toMatch(/horse|someone/);
  });

  test('refuses our subscription', async () => {
    const aedes = await createAedes({
      authorizeSubscribe: (_client, _subscription, done) => done(null, null),
    });
    const ownPort = await listen(createServer((socket) => void aedes.handle(socket)));
    const { broker, entries } = await open(`mqtt://127.0.0.1:${ownPort}`);
    await unavailable(broker.ping());
    expect(log(entries)).toEqual([LOST]);
  });

  test('refuses our messages: the reason is in the error', async () => {
    const scripted = await startScriptedBroker(10);
    const { broker } = await open(scripted.url);
    const refused = expect(broker.publish('a', 'x')).rejects.toMatchObject({
      name: 'BrokerUnavailableError',
      cause: { message: 'Publish error: Not authorized' },
    });
    await expect.poll(() => scripted.waiting.length).toBe(1);
    scripted.acknowledge(0x87);
    await refused;
  });

  test('drops the connection: what is in progress fails at once, not at its timeout', async () => {
    const scripted = await startScriptedBroker(1);
    const { broker } = await open(scripted.url);
    const lost = ['sent', 'waiting'].map((payload) =>
      expect(broker.publish('a', payload)).rejects.toMatchObject({
        name: 'BrokerUnavailableError',
        cause: { message: expect.stringMatching(/closed/) },
      }),
    );
    await expect.poll(() => scripted.waiting.length).toBe(1);
    scripted.drop();
    await Promise.all(lost);
  });

  test('accepts messages and delivers none: a message is accepted, a ping gets no response', async () => {
    const scripted = await startScriptedBroker(10);
    const { broker } = await open(scripted.url);
    const ping = unavailable(broker.ping());
    const message = broker.publish('a', 'x');
    await expect.poll(() => scripted.waiting.length).toBe(2);
    scripted.acknowledge();
    scripted.acknowledge();
    await message;
    await ping;
  });

  test('allows two messages in progress: gets no third one before it has acknowledged one', async () => {
    const scripted = await startScriptedBroker(2);
    const { broker } = await open(scripted.url);
    let taken = 0;
    const messages = Array.from({ length: 5 }, () => broker.publish('a', 'x').then(() => (taken += 1)));
    for (let n = 1; n <= messages.length; n += 1) {
      await expect.poll(() => scripted.waiting.length).toBeGreaterThan(0);
      scripted.acknowledge();
      await expect.poll(() => taken).toBe(n);
    }
    expect(scripted.most()).toBe(2);
  });
});

describe('mqtts', () => {
  const { key, cert } = makeCertificate();

  async function serve(): Promise<{ port: number }> {
    const aedes = await createAedes();
    const secure = tls.createServer({ key, cert }, (socket) => {
      socket.on('error', () => {});
      aedes.handle(socket);
    });
    secure.on('tlsClientError', () => {});
    return { port: await listen(secure) };
  }

  test('is used with a certificate of a trusted authority', async () => {
    const trusted = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...trusted, cert]);
    onTestFinished(() => tls.setDefaultCACertificates(trusted));
    const { broker, entries } = await open(`mqtts://localhost:${(await serve()).port}`);
    await broker.ping();
    await broker.publish('latchkey/v2/test', 'x');
    expect(entries).toEqual([]);
  });

  test('is not used with a certificate of another authority, or of another host', async () => {
    const { port: ownPort } = await serve();
    const stranger = await open(`mqtts://localhost:${ownPort}`);
    await unavailable(stranger.broker.ping());
    expect(log(stranger.entries)).toEqual([LOST]);

    const trusted = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...trusted, cert]);
    onTestFinished(() => tls.setDefaultCACertificates(trusted));
    const another = await open(`mqtts://127.0.0.1:${ownPort}`);
    await unavailable(another.broker.ping());
    expect(another.entries).toMatchObject([{ err: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } }]);
  });
});

describe('an address that is not one of an MQTT broker', () => {
  test.each([
    'someone:horse@host',
    'https://someone:horse@host',
    'ws://someone:horse@host',
    'mqtt://',
    'mqtt:///',
    'mqtt://someone:horse@host:99999',
    'mqtt://someone:ho%zzrse@host',
    'mqtt://someone:horse@host/path',
    'mqtt://someone:horse@host?clientId=x',
  ])('%s: is refused in one line without the password', async (brokerUrl) => {
    const failure = await open(brokerUrl).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartupError);
    expect((failure as Error).message).toMatch(/^BROKER_URL must be the address of an MQTT broker/);
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toMatch(/horse/);
  });

  test('a node id that cannot be part of a topic', async () => {
    const { logger } = captureLog();
    await expect(openBroker({ brokerUrl: undefined, nodeId: 'a+b', logger })).rejects.toThrow(TypeError);
  });
});
