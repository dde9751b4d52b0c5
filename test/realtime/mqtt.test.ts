import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { DAY } from '../support/clock.ts';
import { ban, newApp, newSession, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { connectMqtt, topicsOf, webSocketUrl, type Login } from './support/mqtt-client.ts';

const service = await startTestService({ MQTT_PORT: '0' });
const { api, clock } = service;
const webSocket = webSocketUrl(api);
const tcp = `mqtt://127.0.0.1:${service.mqttPort}`;
const ABSENT = '#absent';

async function login(app: App) {
  const session = await newSession(api, app);
  const topics = topicsOf(app.app_id, session.user!.id!, session.session_id);
  return { ...session, topics, credentials: { app_id: app.app_id, password: session.token } };
}

describe.each([
  ['WebSocket', webSocket, 5],
  ['WebSocket', webSocket, 4],
  ['TCP', tcp, 5],
  ['TCP', tcp, 4],
  ['TCP', tcp, 3],
] as const)('over %s (%s) with MQTT level %i', (_name, url, protocolVersion) => {
  const options =
    protocolVersion === 3 ? { protocolVersion, protocolId: 'MQIsdp' as const } : { protocolVersion };

  /** Another client of a session, notified after the others: when it has received an event, they have, too. */
  async function connectWitness({ credentials, topics }: Awaited<ReturnType<typeof login>>) {
    const witness = await connectMqtt(url, credentials, options);
    await witness.subscribe(topics.application);
    return witness;
  }

  test('a session receives its events once, in the format of streams', async () => {
    const app = await newApp(api);
    const session = await login(app);
    const stranger = await newSession(api, app);
    const listening = await connectMqtt(url, session.credentials, options);
    const { application, user, session: own } = session.topics;
    expect(await listening.subscribe(application, user, own)).toEqual([1, 1, 1]);
    await app.patch({ paused: true });
    await ban(api, app, { kind: 'user', username: stranger.owner.username });
    const [key] = await app.keys(1);
    await api.activate(app.with({ username: session.owner.username, license_key: key! }));
    await api.logout({ app_id: app.app_id, token: session.token });
    const reason = await listening.closed;
    expect(reason).toBe(protocolVersion === 5 ? 0x98 : undefined);
    expect(listening.messages.map(({ topic, payload }) => [topic, payload.type])).toEqual([
      [application, 'application.paused'],
      [user, 'license.redeemed'],
      [own, 'session.ended'],
    ]);
    expect(listening.messages[2]).toMatchObject({
      qos: 1,
      payload: { app_id: app.app_id, user_id: session.user!.id, data: { reason: 'logout' } },
    });
  });

  test('a session receives only the topics that it is subscribed to', async () => {
    const app = await newApp(api);
    const session = await login(app);
    const listening = await connectMqtt(url, session.credentials, options);
    await listening.client.subscribeAsync(session.topics.application, { qos: 0 });
    const witness = await connectWitness(session);
    await app.patch({ paused: true });
    expect(await listening.next('application.paused')).toMatchObject({ qos: 0 });
    await listening.client.unsubscribeAsync(session.topics.application);
    await app.patch({ paused: false });
    await witness.next('application.resumed');
    await listening.subscribe(session.topics.application);
    await app.patch({ name: 'Aurora' });
    await listening.next('application.updated');
    await ban(api, app, { kind: 'user', username: session.owner.username });
    await listening.closed;
    expect(listening.messages.map(({ payload }) => payload.type)).toEqual([
      'application.paused',
      'application.updated',
    ]);
  });

  test.each([
    ['nonsense', 'nonsense'],
    ['nothing', ''],
    ['the application secret', 'secret'],
    ["the developer's token", 'token'],
  ] as const)('%s is not a password', async (_what, password) => {
    const app = await newApp(api);
    const passwords = { nonsense: 'nonsense', '': '', secret: app.secret, token: app.token };
    const refused = connectMqtt(url, { app_id: app.app_id, password: passwords[password] }, options);
    await expect(refused).rejects.toMatchObject({ code: protocolVersion === 5 ? 0x87 : 5 });
  });

  test('tokens of ended and expired sessions and of another application are refused', async () => {
    const app = await newApp(api);
    const refusal = { code: protocolVersion === 5 ? 0x87 : 5 };
    const ended = await login(app);
    await api.logout({ app_id: app.app_id, token: ended.token });
    await expect(connectMqtt(url, ended.credentials, options)).rejects.toMatchObject(refusal);
    const other = await newApp(api);
    const live = await login(app);
    const wrong = { ...live.credentials, app_id: other.app_id };
    await expect(connectMqtt(url, wrong, options)).rejects.toMatchObject(refusal);
    clock.advance(DAY);
    await expect(connectMqtt(url, live.credentials, options)).rejects.toMatchObject(refusal);
  });

  test('topics of other sessions and wildcards are refused, in every form', async () => {
    const app = await newApp(api);
    const session = await login(app);
    const stranger = await login(app);
    const foreign = await login(await newApp(api));
    const listening = await connectMqtt(url, session.credentials, options);
    const topics = [
      stranger.topics.user,
      stranger.topics.session,
      foreign.topics.application,
      foreign.topics.user,
      foreign.topics.session,
      '#',
      '+/#',
      'latchkey/#',
      'latchkey/v2/apps/+/events',
      `latchkey/v2/apps/${app.app_id}/#`,
      `latchkey/v2/apps/${app.app_id}/users/+`,
      `latchkey/v2/apps/${app.app_id}/sessions/+`,
      `latchkey/v2/apps/${app.app_id}/sessions/${session.session_id}/`,
      `latchkey/v2/apps/${app.app_id}/sessions/x/${session.session_id}`,
      `/${session.topics.application}`,
      `$share/group/${session.topics.application}`,
      '$SYS/#',
      'latchkey/v2/health/node',
    ];
    const granted = await listening.subscribe(...topics);
    expect(granted).toEqual(topics.map(() => (protocolVersion === 5 ? 0x87 : 0x80)));
    const witness = await connectWitness(session);
    await ban(api, app, { kind: 'user', username: stranger.owner.username });
    await app.patch({ paused: true });
    await witness.next('application.paused');
    expect(await listening.subscribe(session.topics.application)).toEqual([1]);
    await app.patch({ paused: false });
    await listening.next('application.resumed');
    expect(listening.messages).toHaveLength(1);
  });

  test('a client that publishes is disconnected, and its message is not delivered', async () => {
    const app = await newApp(api);
    const session = await login(app);
    const victim = await connectMqtt(url, session.credentials, options);
    await victim.subscribe(session.topics.application);
    for (const qos of [0, 1, 2] as const) {
      const listening = await connectMqtt(url, session.credentials, options);
      listening.client.publish(session.topics.application, '{}', { qos, retain: true }, () => {});
      const reason = await listening.closed;
      if (protocolVersion === 5) expect(reason).toBe(0x87);
    }
    await app.patch({ paused: true });
    await victim.next('application.paused');
    expect(victim.messages).toHaveLength(1);
  });

  test('a will is refused', async () => {
    const app = await newApp(api);
    const { credentials, topics } = await login(app);
    const will = { topic: topics.application, payload: Buffer.from('{}'), qos: 1 as const, retain: true };
    await expect(connectMqtt(url, credentials, { ...options, will })).rejects.toMatchObject({
      code: protocolVersion === 5 ? 0x87 : 5,
    });
  });

  test('a repeated client identifier does not end another connection', async () => {
    const app = await newApp(api);
    const victim = await login(app);
    const attacker = await login(await newApp(api));
    const clientId = 'the-same';
    const first = await connectMqtt(url, victim.credentials, { ...options, clientId });
    await first.subscribe(victim.topics.application);
    const second = await connectMqtt(url, attacker.credentials, { ...options, clientId, clean: false });
    expect(await second.subscribe(victim.topics.application)).not.toEqual([1]);
    await app.patch({ paused: true });
    await first.next('application.paused');
    expect(second.messages).toEqual([]);
  });

  test('a banned machine, a banned network and an expired session are notified and disconnected', async () => {
    const app = await newApp(api);
    const cases = [
      {
        cause: (hwid: string) => ban(api, app, { kind: 'hardware', hwid }),
        message: { type: 'session.refused', data: { code: 'HWID_BANNED' } },
        reason: 0x87,
      },
      {
        cause: async () => clock.advance(DAY),
        message: { type: 'session.expired', data: {} },
        reason: 0xa0,
      },
    ];
    for (const { cause, message, reason } of cases) {
      const session = await login(app);
      const listening = await connectMqtt(url, session.credentials, options);
      await listening.subscribe(session.topics.session);
      await cause(session.owner.hwid);
      expect(await listening.closed).toBe(protocolVersion === 5 ? reason : undefined);
      expect(listening.messages.map(({ payload }) => payload)).toMatchObject([message]);
    }
    const last = await newApp(api);
    const session = await login(last);
    const listening = await connectMqtt(url, session.credentials, options);
    await listening.subscribe(session.topics.session);
    await ban(api, last, { kind: 'network', network: '127.0.0.0/8' });
    await listening.closed;
    expect(listening.messages[0]!.payload.data).toEqual({ code: 'ADDRESS_BANNED' });
    const banned = connectMqtt(url, session.credentials, options);
    await expect(banned).rejects.toMatchObject({ code: protocolVersion === 5 ? 0x87 : 5 });
  });
});

describe('credentials', () => {
  test('the session id and the encrypted token are passwords too, with any user name', async () => {
    const app = await newApp(api);
    const session = await login(app);
    const application = await service.services.applications.authenticate(app.app_id, app.secret);
    const encrypted = await service.services.logins.withPassword(application, session.owner, 'encrypted', {
      address: '127.0.0.1',
    });
    for (const [username, password] of [
      ['', encrypted.session.sessionId],
      [app.app_id, encrypted.session.token],
      ['anything', encrypted.session.token],
    ] as const) {
      const listening = await connectMqtt(webSocket, { app_id: username, password });
      const own = `latchkey/v2/apps/${app.app_id}/sessions/${encrypted.session.sessionId}`;
      expect(await listening.subscribe(own, session.topics.user, session.topics.session)).toEqual([
        1, 1, 0x87,
      ]);
    }
  });

  test('a sixth connection of one session is refused for now', async () => {
    const { credentials } = await login(await newApp(api));
    for (let n = 0; n < 5; n += 1) await connectMqtt(webSocket, credentials);
    await expect(connectMqtt(webSocket, credentials)).rejects.toMatchObject({ code: 0x88 });
  });
});

describe('MQTT 5', () => {
  test('respects Receive Maximum: messages beyond it are sent with QoS 0, in order', async () => {
    const app = await newApp(api);
    const { credentials, topics } = await login(app);
    const { socket, packets } = await openTcp(5);
    socket.write(connectPacketV5(credentials, { receiveMaximum: 2 }));
    socket.write(
      mqttPacket.generate(
        { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: topics.application, qos: 1 }] },
        { protocolVersion: 5 },
      ),
    );
    await expect.poll(() => packets.map(({ cmd }) => cmd)).toEqual(['connack', 'suback']);
    for (let n = 0; n < 4; n += 1) await app.patch({ name: `n ${n}` });
    const messages = () => packets.filter((packet) => packet.cmd === 'publish');
    await expect.poll(() => messages().map(({ qos }) => qos)).toEqual([1, 1, 0, 0]);
    const { messageId } = messages()[0]!;
    socket.write(mqttPacket.generate({ cmd: 'puback', messageId: messageId! }, { protocolVersion: 5 }));
    await app.patch({ name: 'last' });
    await expect.poll(() => messages().map(({ qos }) => qos)).toEqual([1, 1, 0, 0, 1]);
    expect(messages()[0]!.properties).toMatchObject({ contentType: 'application/json' });
    const ids = messages().map(({ payload }) => (JSON.parse(String(payload)) as { id: string }).id);
    expect(ids).toEqual([...ids].sort());
  });

  test('respects Maximum Packet Size: larger messages are left out', async () => {
    const app = await newApp(api);
    const session = await login(app);
    const small = await connectMqtt(tcp, session.credentials, { properties: { maximumPacketSize: 100 } });
    const large = await connectMqtt(tcp, session.credentials);
    await small.subscribe(session.topics.application);
    await large.subscribe(session.topics.application);
    await app.patch({ name: 'too long for it' });
    await large.next('application.updated');
    await small.client.subscribeAsync(session.topics.user);
    expect(small.messages).toEqual([]);
  });

  test('a subscription identifier ends the connection, because it is not supported', async () => {
    const session = await login(await newApp(api));
    const listening = await connectMqtt(tcp, session.credentials);
    listening.client.subscribe(
      session.topics.user,
      { qos: 0, properties: { subscriptionIdentifier: 7 } },
      () => {},
    );
    expect(await listening.closed).toBe(0xa1);
  });

  test('the response to CONNECT', async () => {
    const { credentials } = await login(await newApp(api));
    const refusal = await exchange([connectPacketV5(credentials, { sessionExpiryInterval: 60 })]);
    expect(refusal).toMatchObject({
      cmd: 'connack',
      reasonCode: 0,
      sessionPresent: false,
      properties: {
        maximumQoS: 0,
        retainAvailable: false,
        wildcardSubscriptionAvailable: false,
        subscriptionIdentifiersAvailable: false,
        sharedSubscriptionAvailable: false,
        maximumPacketSize: 16_384,
        sessionExpiryInterval: 0,
        assignedClientIdentifier: expect.stringMatching(/^client-/) as string,
        serverKeepAlive: 1_200,
      },
    });
  });
});

function connectPacketV5({ app_id: username, password }: Login, properties: object): Buffer {
  return mqttPacket.generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clientId: '',
    clean: true,
    keepalive: 0,
    username,
    password: Buffer.from(password),
    properties,
  });
}

/** A raw connection, and the packets that it receives. */
async function openTcp(protocolVersion: 4 | 5) {
  const socket = connectTcp(service.mqttPort!, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  const parser = mqttPacket.parser({ protocolVersion });
  const packets: Packet[] = [];
  parser.on('packet', (packet) => packets.push(packet));
  socket.on('data', (bytes) => void parser.parse(bytes));
  return { socket, packets, closed: once(socket, 'close') };
}

/** Sends bytes over TCP. @returns the first packet, or ABSENT if the connection ends without one */
async function exchange(parts: readonly (Buffer | string)[], protocolVersion: 4 | 5 = 5): Promise<unknown> {
  const { socket, packets, closed } = await openTcp(protocolVersion);
  for (const part of parts) socket.write(part);
  await Promise.race([closed, expect.poll(() => packets.length).toBeGreaterThan(0)]).catch(() => {});
  return packets[0] ?? ABSENT;
}

describe('invalid MQTT', () => {
  const connectPacket = (fields: object = {}) =>
    mqttPacket.generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clientId: 'x',
      clean: true,
      keepalive: 10,
      ...fields,
    });

  test.each<[string, Buffer]>([
    ['text', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['zeros', Buffer.alloc(64)],
    ['a packet before CONNECT', mqttPacket.generate({ cmd: 'pingreq' })],
    ['a CONNECT that is too large', connectPacket({ username: 'x', password: Buffer.alloc(17_000) })],
    [
      'the beginning of a huge packet',
      Buffer.concat([Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]), Buffer.alloc(40_000)]),
    ],
    ['a length that never ends', Buffer.from([0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
    [
      'CONNECT of an unknown protocol',
      Buffer.from([0x10, 0x0c, 0, 4, 0x4d, 0x51, 0x54, 0x58, 4, 2, 0, 10, 0, 0]),
    ],
  ])('%s ends the connection', async (_what, bytes) => {
    expect(await exchange([bytes], 4)).toBe(ABSENT);
  });

  test('CONNECT of an unknown version is refused with a reason', async () => {
    const bytes = Buffer.from([0x10, 0x0c, 0, 4, 0x4d, 0x51, 0x54, 0x54, 9, 2, 0, 10, 0, 0]);
    expect(await exchange([bytes], 4)).toMatchObject({ cmd: 'connack', returnCode: 1 });
  });

  test('CONNECT without credentials or with an authentication method is refused', async () => {
    expect(await exchange([connectPacket()], 4)).toMatchObject({ cmd: 'connack', returnCode: 5 });
    const properties = { authenticationMethod: 'SCRAM-SHA-256' };
    expect(await exchange([connectPacket({ protocolVersion: 5, properties })])).toMatchObject({
      cmd: 'connack',
      reasonCode: 0x8c,
    });
  });

  test('a second CONNECT ends the connection', async () => {
    const { credentials } = await login(await newApp(api));
    const fields = { username: credentials.app_id, password: Buffer.from(credentials.password) };
    const socket = connectTcp(service.mqttPort!, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.resume();
    socket.write(connectPacket(fields));
    await once(socket, 'data');
    socket.write(connectPacket(fields));
    await once(socket, 'close');
  });

  test('closed connections leave nothing behind', async () => {
    await expect.poll(() => service.services.realtime.connected().mqtt).toBe(0);
  });
});

describe('the upgrade', () => {
  const request = (path: string, headers: Record<string, string>) => fetch(api.baseUrl + path, { headers });

  test('is refused without the subprotocol', async () => {
    const socket = new WebSocket(webSocket);
    const [, response] = (await once(socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number; headers: Record<string, string> },
    ];
    expect(response.statusCode).toBe(400);
    expect(response.headers['content-type']).toBe('application/problem+json');
    socket.on('error', () => {});
    socket.terminate();
  });

  test('text frames and frames that are too large end it', async () => {
    for (const [frame, code] of [
      ['text', 1003],
      [Buffer.alloc(20_000), 1009],
    ] as const) {
      const socket = new WebSocket(webSocket, 'mqtt');
      await once(socket, 'open');
      expect(socket.protocol).toBe('mqtt');
      socket.send(frame);
      const [closedWith] = (await once(socket, 'close')) as [number];
      expect([code, 1006]).toContain(closedWith);
    }
  });

  test('is ignored on other paths', async () => {
    const response = await request('/health', { connection: 'upgrade', upgrade: 'h2c' }).catch(
      () => undefined,
    );
    expect(response?.status ?? 200).toBe(200);
    const socket = new WebSocket(`${api.baseUrl.replace('http', 'ws')}/health`, 'mqtt');
    const [, refusal] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(refusal.statusCode).toBe(200);
    socket.on('error', () => {});
    socket.terminate();
  });
});
