import type { Duplex, Readable } from 'node:stream';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Bans } from '../../licensing/bans/bans.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Client } from '../../platform/address.ts';
import { createForEachInChunks } from '../../platform/chunks.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MqttServer } from '../../platform/mqtt/index.ts';
import type { Relay } from '../relay/relay.ts';
import type { SessionIdentity, Sessions } from '../../licensing/sessions/sessions.ts';
import { createAccountListeners } from './account-listeners.ts';
import { createAccountStreams, type AccountStreamFilter } from './account-streams.ts';
import { createConnectionSlots } from './connection-slots.ts';
import { createEventFanOut } from './event-fan-out.ts';
import { EventStream, type StartPosition } from './event-stream.ts';
import { createListeners, type SessionListener } from './listeners.ts';
import type { ControlMessage } from './message.ts';
import { createMqttAdmission } from './mqtt-admission.ts';
import { createSessionRechecks } from './session-rechecks.ts';

/** How late an expiry may take effect. */
const EXPIRY_INTERVAL_MS = 250;
const HEARTBEAT_TICK_MS = 1_000;
const TICKS_PER_HEARTBEAT = 15;

/** What a developer's stream contains, and where it starts. */
export interface StreamRequest {
  /** Every type if undefined. */
  readonly types?: readonly string[] | undefined;
  /** The last event that the client received. */
  readonly lastEventId?: string | undefined;
  /** Whether the token is still valid: checked again while the stream is open. */
  readonly isStillAllowed: () => Promise<boolean>;
}

/** A slot for an MQTT client on this node. */
export interface MqttSlot {
  /** Serves the client over its connection. */
  serve(socket: Duplex): void;
  /** Releases a slot that is not used. */
  release(): void;
}

/** Notifies the clients that are connected to this node. It never decides: the database does. */
export interface Realtime {
  /**
   * All events of an application, as server-sent events.
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE
   */
  streamOfApplication(actor: Actor, appId: string, request: StreamRequest): Promise<Readable>;
  /**
   * The events of all applications of a developer, as server-sent events.
   * @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE
   */
  streamOfAccount(actor: Actor, request: StreamRequest & AccountStreamFilter): Promise<Readable>;
  /**
   * The events that a session may see, as server-sent events, until the session ends.
   * @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE; those of verify if the session has ended in between
   */
  streamOfSession(
    session: SessionIdentity,
    client: Client,
    lastEventId: string | undefined,
  ): Promise<Readable>;
  /** Reserves a slot for an MQTT client. @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE */
  acquireMqttSlot(client: Client): MqttSlot;
  /** How many clients are connected. */
  connected(): { readonly streams: number; readonly mqtt: number };
  /**
   * Starts the work in the background.
   * @param heartbeatTickMs a fifteenth of the time between two heartbeats; a second by default
   * @returns ends all connections and refuses new ones
   */
  start(heartbeatTickMs?: number): { stop(): Promise<void> };
}

interface Dependencies {
  readonly applications: Pick<Applications, 'ofDeveloper' | 'idsWithDeleted' | 'ownerOf'>;
  readonly sessions: Pick<Sessions, 'identify' | 'recheck' | 'recheckAll'>;
  readonly bans: Pick<Bans, 'find'>;
  readonly events: Pick<
    Events,
    'ofApplication' | 'ofApplications' | 'ofSession' | 'anchorOf' | 'positionOf' | 'positionOfAny'
  >;
  readonly relay: Pick<Relay, 'follow' | 'position'>;
  readonly mqtt: MqttServer;
  /** How many clients may be connected at a time. */
  readonly capacity: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface OpenStream {
  /** In ticks. */
  age: number;
  readonly isStillAllowed?: () => Promise<boolean>;
}

export function createRealtime(deps: Dependencies): Realtime {
  const { applications, sessions, bans, events, relay, mqtt, capacity, clock, logger } = deps;
  const listeners = createListeners();
  const forEachInChunks = createForEachInChunks();
  const slots = createConnectionSlots(capacity);
  const rechecks = createSessionRechecks({ listeners, bans, sessions, refuse, logger });
  const admission = createMqttAdmission({ sessions, listeners, slots });
  const accountListeners = createAccountListeners({ ownerOf: applications.ownerOf, logger });
  const accountStreams = createAccountStreams({
    ...deps,
    slots,
    listeners: accountListeners,
    resetMessage: (lastEventId) => {
      const all = { appId: null, userId: null };
      return messageTo(all, 'stream.reset', { last_event_id: lastEventId });
    },
  });
  const streams = new Map<EventStream, OpenStream>();
  let mqttClients = 0;

  function refuse(listener: SessionListener, code: string): void {
    listener.finish(messageTo(listener.session, 'session.refused', { code }));
  }

  function messageTo(
    { appId, userId }: { readonly appId: string | null; readonly userId: string | null },
    type: ControlMessage['type'],
    data: ControlMessage['data'],
  ): ControlMessage {
    return { type, timestamp: clock.now().toISOString(), app_id: appId, user_id: userId, data };
  }

  /** Where a stream starts, with the message that it starts with if the client's last event is unknown. */
  async function startPosition(
    subject: { readonly appId: string; readonly userId: string | null },
    lastEventId: string | undefined,
    findAnchor: (position: number) => Promise<{ readonly eventId: string } | undefined>,
  ): Promise<StartPosition> {
    const found = lastEventId === undefined ? undefined : await events.positionOf(subject.appId, lastEventId);
    if (found !== undefined) return { position: found, eventId: lastEventId };
    const position = relay.position();
    const eventId = (await findAnchor(position))?.eventId;
    if (lastEventId === undefined) return { position, eventId };
    return { position, eventId, message: messageTo(subject, 'stream.reset', { last_event_id: lastEventId }) };
  }

  function register(
    stream: EventStream,
    close: () => void,
    isStillAllowed?: () => Promise<boolean>,
  ): EventStream {
    streams.set(stream, { age: 0, ...(isStillAllowed && { isStillAllowed }) });
    stream.once('close', () => {
      streams.delete(stream);
      close();
    });
    return stream;
  }

  let expiring: Promise<void> | undefined;

  function handleExpiries(): void {
    const now = clock.now();
    // Many expiries at once may take longer than the interval, and each listener receives one message.
    expiring ??= endExpired(now).finally(() => (expiring = undefined));
    rechecks.scheduleExpired(now);
  }

  function endExpired(now: Date): Promise<void> {
    const expired = [...listeners.sessions()].filter(({ session }) => session.expiresAt <= now);
    return forEachInChunks(expired, (listener) =>
      listener.finish(messageTo(listener.session, 'session.expired', {})),
    );
  }

  /** Each stream gets a heartbeat every 15 seconds after its start. */
  function sendHeartbeats(): void {
    const due: EventStream[] = [];
    for (const [stream, state] of streams) {
      state.age += 1;
      if (state.age % TICKS_PER_HEARTBEAT === 0) due.push(stream);
    }
    // Many streams may have been opened at once.
    void forEachInChunks(due, sendHeartbeat);
  }

  function sendHeartbeat(stream: EventStream): void {
    stream.heartbeat();
    // While the database is unavailable, this is unknown and the stream stays open.
    streams
      .get(stream)
      ?.isStillAllowed?.()
      .then(
        (isAllowed) => isAllowed || stream.finish(),
        () => {},
      );
  }

  return {
    async streamOfApplication(actor, appId, { types, lastEventId, isStillAllowed }) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      const release = slots.acquireApplicationStream(`${actor.kind} ${actor.id}`, developerId);
      let close = release;
      try {
        const start = await startPosition({ appId, userId: null }, lastEventId, async (position) => {
          const latest = { position: position + 1, order: 'desc', limit: 1 } as const;
          return (await events.ofApplication(appId, {}, latest))[0];
        });
        const stream = new EventStream({
          start,
          read: (position, limit) =>
            events.ofApplication(appId, { types }, { position, order: 'asc', limit }),
        });
        const unlisten = listeners.addDeveloper(appId, {
          offer(event, isLast) {
            if (!types || types.includes(event.type)) stream.offer(event, isLast);
            else if (isLast) stream.finish();
          },
          finish: (message) => stream.finish(message),
        });
        close = () => {
          unlisten();
          release();
        };
        // The application may have been deleted before the stream was registered as a listener.
        await applications.ofDeveloper(developerId, appId);
        return register(stream, close, isStillAllowed);
      } catch (error) {
        close();
        throw error;
      }
    },

    async streamOfAccount(actor, { lastEventId, isStillAllowed, ...filter }) {
      const { stream, close } = await accountStreams.open(actor, filter, lastEventId);
      return register(stream, close, isStillAllowed);
    },

    async streamOfSession(session, client, lastEventId) {
      const release = slots.acquireSessionStream(session.sessionDigest);
      let close = release;
      try {
        const start = await startPosition(session, lastEventId, (position) =>
          events.anchorOf(session, position),
        );
        const stream = new EventStream({
          start,
          read: (position, limit) => events.ofSession(session, { position, order: 'asc', limit }),
        });
        const unlisten = listeners.addSession({
          session,
          client,
          offer: (event, isLast) => stream.offer(event, isLast),
          finish: (message) => stream.finish(message),
        });
        close = () => {
          unlisten();
          release();
        };
        // The session may have ended before the stream was registered as a listener.
        await sessions.recheck(session.sessionDigest, client);
        return register(stream, close);
      } catch (error) {
        close();
        throw error;
      }
    },

    acquireMqttSlot(client) {
      const release = slots.acquireMqtt(client);
      return {
        serve(socket) {
          mqttClients += 1;
          socket.once('close', () => {
            mqttClients -= 1;
            release();
          });
          mqtt.accept(socket, admission(client));
        },
        release,
      };
    },

    connected: () => ({ streams: streams.size, mqtt: mqttClients }),

    start(heartbeatTickMs = HEARTBEAT_TICK_MS) {
      const fanOut = createEventFanOut({ listeners, rechecks, logger });
      const unfollowing = [relay.follow(fanOut.deliver), relay.follow(accountListeners.deliver)];
      const rechecking = rechecks.start();
      const intervals = [
        setInterval(handleExpiries, EXPIRY_INTERVAL_MS),
        setInterval(sendHeartbeats, heartbeatTickMs),
      ];
      return {
        async stop() {
          slots.close();
          for (const unfollow of unfollowing) unfollow();
          for (const interval of intervals) clearInterval(interval);
          const ended = forEachInChunks([...listeners.all(), ...streams.keys()], (each) => each.finish());
          await Promise.all([ended.then(() => mqtt.close()), rechecking.stop()]);
        },
      };
    },
  };
}
