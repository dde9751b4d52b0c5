import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connectAsync } from 'mqtt';
import { applicationTopic, userTopic } from '../../src/foundation/events/topic-state.ts';
import * as data from '../data.ts';

/** How a client follows events. */
export type Transport = 'mqtt' | 'sse';

/** Whose events, and where. */
export interface Followed {
  readonly port: number;
  readonly appId: string;
  /** The number of a seeded session. */
  readonly session: number;
}

/**
 * Connects a client that follows its application and its user.
 * @param onEvent called with each event in JSON
 * @returns disconnects it
 */
export async function openClient(
  transport: Transport,
  followed: Followed,
  onEvent: (json: string) => void,
): Promise<() => void> {
  return transport === 'mqtt' ? openMqtt(followed, onEvent) : openStream(followed, onEvent);
}

async function openMqtt({ port, appId, session }: Followed, onEvent: (json: string) => void) {
  const client = await connectAsync(`ws://127.0.0.1:${port}/mqtt`, {
    // All that aedes speaks.
    protocolVersion: 4,
    username: appId,
    password: data.tokenOf(appId, session),
    reconnectPeriod: 0,
  });
  client.on('error', () => {});
  client.on('message', (_topic, payload) => onEvent(payload.toString()));
  const user = data.userIdOf(data.userOfSession(session));
  await client.subscribeAsync([applicationTopic(appId), userTopic(appId, user)], { qos: 0 });
  return () => void client.end(true);
}

async function openStream({ port, appId, session }: Followed, onEvent: (json: string) => void) {
  const headers = {
    Authorization: `Bearer ${data.tokenOf(appId, session)}`,
    Accept: 'text/event-stream',
  };
  const request = get({ port, host: '127.0.0.1', path: '/api/v2/client/events', headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the stream returned ${response.statusCode}`);
  request.on('error', () => {});
  response.on('error', () => {});
  let unread = '';
  response.setEncoding('utf8').on('data', (text: string) => {
    const frames = (unread + text).split('\n\n');
    unread = frames.pop()!;
    for (const frame of frames) {
      const start = frame.indexOf('data: ');
      if (start >= 0) onEvent(frame.slice(start + 'data: '.length));
    }
  });
  return () => void request.destroy();
}
