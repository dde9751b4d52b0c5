import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import { expect, onTestFinished } from 'vitest';
import type { Api } from '../../support/api.ts';

export interface Message {
  readonly topic: string;
  readonly payload: { readonly id: string; readonly type: string; readonly data: Record<string, unknown> };
  readonly qos: number;
}

export interface Listening {
  readonly client: MqttClient;
  readonly messages: Message[];
  /** The reason code of the server when the connection ended, if it sent one. */
  readonly closed: Promise<number | undefined>;
  next(type: string): Promise<Message>;
  /** @returns the granted quality of service of each topic, 128 or above if it was refused */
  subscribe(...topics: string[]): Promise<number[]>;
}

export interface Login {
  readonly app_id: string;
  /** A session's token or id. */
  readonly password: string;
}

/** Connects like a client of the service. The connection ends with the test. */
export async function connectMqtt(
  url: string,
  { app_id: username, password }: Login,
  options: IClientOptions = {},
): Promise<Listening> {
  const client = await connectAsync(url, {
    username,
    password,
    reconnectPeriod: 0,
    connectTimeout: 5_000,
    protocolVersion: 5,
    ...options,
  });
  const messages: Message[] = [];
  client.on('message', (topic, payload, { qos }) => {
    messages.push({ topic, qos, payload: JSON.parse(payload.toString()) as Message['payload'] });
  });
  client.on('error', () => {});
  const { promise: closed, resolve } = Promise.withResolvers<number | undefined>();
  let reason: number | undefined;
  client.on('disconnect', (packet) => (reason = packet.reasonCode));
  client.on('close', () => resolve(reason));
  onTestFinished(() => void client.end(true));
  return {
    client,
    messages,
    closed,
    async next(type) {
      await expect.poll(() => messages.map(({ payload }) => payload.type)).toContain(type);
      return messages.find(({ payload }) => payload.type === type)!;
    },
    async subscribe(...topics) {
      const { promise, resolve: response } = Promise.withResolvers<number[]>();
      client.subscribe(topics, { qos: 1 }, (_error, _granted, packet) => {
        response((packet?.granted ?? []) as number[]);
      });
      return promise;
    },
  };
}

/** The WebSocket URL of MQTT. */
export const webSocketUrl = (api: Api) => `${api.baseUrl.replace('http', 'ws')}/mqtt`;

/** The topics of a session. */
export const topicsOf = (appId: string, userId: string, sessionId: string) => ({
  application: `latchkey/v2/apps/${appId}/events`,
  user: `latchkey/v2/apps/${appId}/users/${userId}`,
  session: `latchkey/v2/apps/${appId}/sessions/${sessionId}`,
});
