import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import { MAX_PACKET_BYTES } from '../../platform/mqtt/index.ts';
import type { Services } from '../../services.ts';
import { toApiError } from '../transport/problem.ts';

/** The path where MQTT clients connect. */
export const MQTT_PATH = '/mqtt';
/** Required by MQTT 5, section 6. */
const SUBPROTOCOL = 'mqtt';

/** Whether a request is for a WebSocket at the MQTT path. Any other upgrade offer is ignored. */
export function isMqttUpgrade({ url, headers, method }: IncomingMessage): boolean {
  return (
    method === 'GET' && url?.split('?', 1)[0] === MQTT_PATH && /^websocket$/i.test(headers.upgrade ?? '')
  );
}

interface Options {
  readonly clientOf: (request: IncomingMessage) => Client;
  /** Sends a response instead of the handshake, and closes the connection. */
  readonly refuse: (socket: Duplex, request: IncomingMessage, error: ApiError) => void;
}

/**
 * Serves MQTT over WebSocket. Pages of any origin may connect, because a client is accepted only by the token in
 * CONNECT, which no browser sends automatically.
 */
export function serveMqttUpgrades(
  server: Server,
  { realtime }: Services,
  { clientOf, refuse }: Options,
): void {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_PACKET_BYTES,
    handleProtocols: () => SUBPROTOCOL,
  });
  sockets.on('wsClientError', (cause, socket, request) => {
    refuse(socket, request, new ApiError('MALFORMED_REQUEST', { detail: `${cause.message}.`, cause }));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    try {
      if (!offersMqtt(request)) {
        throw new ApiError('MALFORMED_REQUEST', {
          detail: 'The Sec-WebSocket-Protocol header does not offer mqtt.',
        });
      }
      const place = realtime.acquireMqttSlot(clientOf(request));
      socket.once('close', place.release);
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        // MQTT packets are binary frames (section 6).
        webSocket.on('message', (_data, isBinary) => void (isBinary || webSocket.close(1003)));
        place.serve(createWebSocketStream(webSocket, { highWaterMark: MAX_PACKET_BYTES }));
      });
    } catch (error) {
      refuse(socket, request, toApiError(error));
    }
  });
}

function offersMqtt({ headers }: IncomingMessage): boolean {
  const offered = headers['sec-websocket-protocol'] ?? '';
  return offered.split(',').some((name) => name.trim() === SUBPROTOCOL);
}
