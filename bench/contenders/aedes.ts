import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Aedes } from 'aedes';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { applicationTopic } from '../../src/foundation/events/topic-state.ts';
import { listen, runContender } from './contender.ts';
import { jsonListener } from './json-server.ts';
import { variableEvent } from './variable-event.ts';

/** aedes alone: what arrives over HTTP goes to all subscribers and is not stored. */
runContender(async () => {
  const broker = await Aedes.createBroker();
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    handleProtocols: () => 'mqtt',
  });
  const onChange = jsonListener(async (_body: object, { url }) => {
    const event = variableEvent(url!);
    const topic = applicationTopic(event.app_id);
    const message = { cmd: 'publish', topic, qos: 0, dup: false, retain: false } as const;
    await new Promise<void>((resolve, reject) => {
      broker.publish({ ...message, payload: JSON.stringify(event) }, (error) =>
        error ? reject(error) : resolve(),
      );
    });
    return { status: 'success' };
  });
  return listen(onChange, (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      broker.handle(createWebSocketStream(webSocket));
    });
  });
});
