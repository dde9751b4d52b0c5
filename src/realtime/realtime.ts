import type { Duplex, Readable } from 'node:stream';
import type { Applications } from '../applications/applications.ts';
import type { Actor } from '../audit/audit.ts';
import type { Bans } from '../bans/bans.ts';
import type { Events } from '../events/events.ts';
import { addressBlock, type Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { MqttServer } from '../platform/mqtt/index.ts';
import { createSlices } from '../platform/slices.ts';
import type { Relay } from '../relay/relay.ts';
import type { SessionIdentity, Sessions } from '../sessions/sessions.ts';
import { createAnnouncements } from './announcements.ts';
import { createDoubts } from './doubts.ts';
import { EventStream, type Beginning } from './event-stream.ts';
import { createListeners, type SessionListener } from './listeners.ts';
import type { Notice } from './message.ts';
import { createMqttAdmission } from './mqtt-admission.ts';
import { createSeats } from './seats.ts';

const STREAMS_A_TOKEN = 10;
/** A developer can make any number of tokens. */
const STREAMS_A_DEVELOPER = 100;
const LISTENERS_A_SESSION = 5;
/** Behind one address may be a whole house. */
const MQTT_CLIENTS_AN_ADDRESS = 200;
/** So late may it be seen that something is over by now. */
const SWEEP_MS = 250;
const BEAT_MS = 1_000;
const BEATS_APART = 15;

/** What a developer's stream shows, and from where on. */
export interface StreamRequest {
  /** Every type when left out. */
  readonly types?: readonly string[] | undefined;
  /** The event that the client got last. */
  readonly lastEventId?: string | undefined;
  /** Whether the token would still be accepted: asked again while the stream goes on. */
  readonly stillHolds: () => Promise<boolean>;
}

/** A place for an MQTT client on this node. */
export interface MqttPlace {
  /** Serves it over its connection. */
  serve(socket: Duplex): void;
  /** Gives the place back unused. */
  giveBack(): void;
}

/** Tells clients what happens while they are connected to this node. The database decides all the same. */
export interface Realtime {
  /**
   * Everything that happens in an application, as server-sent events.
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE
   */
  streamOfApplication(actor: Actor, appId: string, request: StreamRequest): Promise<Readable>;
  /**
   * What a session may see of it, as server-sent events, until it ends.
   * @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE; those of verify when it has ended meanwhile
   */
  streamOfSession(
    session: SessionIdentity,
    client: Client,
    lastEventId: string | undefined,
  ): Promise<Readable>;
  /** Makes room for an MQTT client. @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE */
  placeForMqtt(client: Client): MqttPlace;
  /** How many clients listen now. */
  connected(): { readonly streams: number; readonly mqtt: number };
  /** Begins. @returns ends everything that is open, at once; nothing new is begun after it */
  start(): { stop(): Promise<void> };
}

interface Dependencies {
  readonly applications: Pick<Applications, 'ofDeveloper'>;
  readonly sessions: Pick<Sessions, 'identify' | 'recheck' | 'recheckAll'>;
  readonly bans: Pick<Bans, 'find'>;
  readonly events: Pick<Events, 'ofApplication' | 'ofSession' | 'anchorOf' | 'positionOf'>;
  readonly relay: Pick<Relay, 'follow' | 'position'>;
  readonly mqtt: MqttServer;
  /** How many clients may listen at a time. */
  readonly capacity: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createRealtime(deps: Dependencies): Realtime {
  const { applications, sessions, bans, events, relay, mqtt, capacity, clock, logger } = deps;
  const listeners = createListeners();
  const inSlices = createSlices();
  const places = createSeats(capacity);
  const holders = createSeats(Infinity);
  const doubts = createDoubts({ listeners, bans, sessions, refuse, logger });
  const admission = createMqttAdmission({
    sessions,
    listeners,
    holders,
    listenersASession: LISTENERS_A_SESSION,
  });
  const streams = new Map<EventStream, { age: number; readonly stillHolds?: () => Promise<boolean> }>();
  let mqttClients = 0;

  function refuse(listener: SessionListener, code: string): void {
    listener.finish(noticeTo(listener.session, 'session.refused', { code }));
  }

  function noticeTo(
    { appId, userId }: Pick<SessionIdentity, 'appId'> & { readonly userId: string | null },
    type: Notice['type'],
    data: Notice['data'],
  ): Notice {
    return { type, timestamp: clock.now().toISOString(), app_id: appId, user_id: userId, data };
  }

  /** Room on the node, and of each holder. */
  function takePlace(...wanted: readonly (readonly [holder: string, atMost: number])[]): () => void {
    const taken = [places.take('streams', Infinity)];
    const giveBack = () => taken.forEach((leave) => leave());
    try {
      for (const [holder, atMost] of wanted) taken.push(holders.take(holder, atMost));
      return giveBack;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** From where a stream goes on, and what it says when that cannot be told. */
  async function beginning(
    about: { readonly appId: string; readonly userId: string | null },
    lastEventId: string | undefined,
    anchor: (position: number) => Promise<{ readonly eventId: string } | undefined>,
  ): Promise<Beginning> {
    const known = lastEventId === undefined ? undefined : await events.positionOf(about.appId, lastEventId);
    if (known !== undefined) return { position: known, eventId: lastEventId };
    const position = relay.position();
    const eventId = (await anchor(position))?.eventId;
    if (lastEventId === undefined) return { position, eventId };
    return { position, eventId, notice: noticeTo(about, 'stream.reset', { last_event_id: lastEventId }) };
  }

  function keep(stream: EventStream, leave: () => void, stillHolds?: () => Promise<boolean>): EventStream {
    streams.set(stream, { age: 0, ...(stillHolds && { stillHolds }) });
    stream.once('close', () => {
      streams.delete(stream);
      leave();
    });
    return stream;
  }

  let expiring: Promise<void> | undefined;

  function sweep(): void {
    const now = clock.now();
    // Many that expire together may take longer than until the next time, and each is told once.
    expiring ??= endExpired(now).finally(() => (expiring = undefined));
    doubts.noteTime(now);
  }

  function endExpired(now: Date): Promise<void> {
    const expired = [...listeners.sessions()].filter(({ session }) => session.expiresAt <= now);
    return inSlices(expired, (listener) =>
      listener.finish(noticeTo(listener.session, 'session.expired', {})),
    );
  }

  /** Each stream has its turn every 15 seconds, counted from its beginning. */
  function beatDue(): void {
    const due: EventStream[] = [];
    for (const [stream, state] of streams) {
      state.age += 1;
      if (state.age % BEATS_APART === 0) due.push(stream);
    }
    // Many that were opened at once are due at once.
    void inSlices(due, beat);
  }

  function beat(stream: EventStream): void {
    stream.beat();
    // While the database is away, this is unknown, and the stream goes on.
    streams
      .get(stream)
      ?.stillHolds?.()
      .then(
        (holds) => holds || stream.finish(),
        () => {},
      );
  }

  return {
    async streamOfApplication(actor, appId, { types, lastEventId, stillHolds }) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      const giveBack = takePlace(
        [`${actor.kind} ${actor.id}`, STREAMS_A_TOKEN],
        [`all of ${developerId}`, STREAMS_A_DEVELOPER],
      );
      let leave = giveBack;
      try {
        const begun = await beginning({ appId, userId: null }, lastEventId, async (position) => {
          const last = { position: position + 1, order: 'desc', limit: 1 } as const;
          return (await events.ofApplication(appId, {}, last))[0];
        });
        const stream = new EventStream({
          beginning: begun,
          read: (position, limit) =>
            events.ofApplication(appId, { types }, { position, order: 'asc', limit }),
        });
        const unlisten = listeners.addDeveloper(appId, {
          offer(event, isLast) {
            if (!types || types.includes(event.type)) stream.offer(event, isLast);
            else if (isLast) stream.finish();
          },
          finish: (notice) => stream.finish(notice),
        });
        leave = () => {
          unlisten();
          giveBack();
        };
        // It may have been deleted before the stream was among the listeners.
        await applications.ofDeveloper(developerId, appId);
        return keep(stream, leave, stillHolds);
      } catch (error) {
        leave();
        throw error;
      }
    },

    async streamOfSession(session, client, lastEventId) {
      const giveBack = takePlace([session.sessionDigest.toString('hex'), LISTENERS_A_SESSION]);
      let leave = giveBack;
      try {
        const begun = await beginning(session, lastEventId, (position) => events.anchorOf(session, position));
        const stream = new EventStream({
          beginning: begun,
          read: (position, limit) => events.ofSession(session, { position, order: 'asc', limit }),
        });
        const unlisten = listeners.addSession({
          session,
          client,
          offer: (event, isLast) => stream.offer(event, isLast),
          finish: (notice) => stream.finish(notice),
        });
        leave = () => {
          unlisten();
          giveBack();
        };
        // What ended it before it was among the listeners, nobody has told it.
        await sessions.recheck(session.sessionDigest, client);
        return keep(stream, leave);
      } catch (error) {
        leave();
        throw error;
      }
    },

    placeForMqtt(client) {
      const leave = places.take(addressBlock(client.address), MQTT_CLIENTS_AN_ADDRESS);
      return {
        serve(socket) {
          mqttClients += 1;
          socket.once('close', () => {
            mqttClients -= 1;
            leave();
          });
          mqtt.accept(socket, admission(client));
        },
        giveBack: leave,
      };
    },

    connected: () => ({ streams: streams.size, mqtt: mqttClients }),

    start() {
      const announcements = createAnnouncements({ listeners, doubts, logger });
      const unfollow = relay.follow(announcements.add);
      const doubting = doubts.start();
      const watching = [setInterval(sweep, SWEEP_MS), setInterval(beatDue, BEAT_MS)];
      return {
        async stop() {
          places.close();
          unfollow();
          for (const interval of watching) clearInterval(interval);
          const ended = inSlices([...listeners.all(), ...streams.keys()], (each) => each.finish());
          await Promise.all([ended.then(() => mqtt.close()), doubting.stop()]);
        },
      };
    },
  };
}
