import type { PublishedEvent } from '../../foundation/events/events.ts';
import { CHUNK_SIZE, createForEachInChunks } from '../../platform/chunks.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Listener } from './listeners.ts';

/** The listeners on this node that receive the events of all applications of a developer. */
export interface AccountListeners {
  /** @returns removes the listener */
  add(developerId: string, listener: Listener): () => void;
  /** Names applications of a developer who has a listener. Those that are created later need not be named. */
  name(developerId: string, appIds: readonly string[]): void;
  /** Delivers an event to the current listeners, after all earlier events. */
  deliver(event: PublishedEvent): void;
}

interface Dependencies {
  /** The developer of an application; undefined when it no longer exists. */
  readonly ownerOf: (appId: string) => Promise<string | undefined>;
  readonly logger: Logger;
}

export function createAccountListeners({ ownerOf, logger }: Dependencies): AccountListeners {
  const forEachInChunks = createForEachInChunks();
  const byDeveloper = new Map<string, Set<Listener>>();
  /** The developers with listeners, by their applications. */
  const owners = new Map<string, string>();
  /** Deliveries in progress. A listener skips what comes late, so the order holds over all applications. */
  let pending: Promise<void> | undefined;

  function remove(developerId: string, listener: Listener): void {
    const group = byDeveloper.get(developerId);
    group?.delete(listener);
    if (group?.size !== 0) return;
    byDeveloper.delete(developerId);
    for (const [appId, owner] of owners) if (owner === developerId) owners.delete(appId);
  }

  const listenersOf = ({ appId }: PublishedEvent) => [...(byDeveloper.get(owners.get(appId) ?? '') ?? [])];

  async function deliverInOrder(event: PublishedEvent): Promise<void> {
    if (event.type === 'application.created' && byDeveloper.size > 0) {
      const owner = await ownerOf(event.appId);
      if (owner !== undefined && byDeveloper.has(owner)) owners.set(event.appId, owner);
    }
    await forEachInChunks(listenersOf(event), (listener) => listener.offer(event, false));
  }

  /** Clients that reconnect get what they have missed. */
  function endAll(error: unknown): void {
    logger.debug({ err: error }, 'streams of developers end because an application could not be read');
    for (const group of [...byDeveloper.values()]) for (const listener of [...group]) listener.finish();
  }

  return {
    add(developerId, listener) {
      const group = byDeveloper.get(developerId) ?? new Set();
      byDeveloper.set(developerId, group.add(listener));
      return () => remove(developerId, listener);
    },

    name(developerId, appIds) {
      if (!byDeveloper.has(developerId)) return;
      for (const appId of appIds) owners.set(appId, developerId);
    },

    deliver(event) {
      if (byDeveloper.size === 0) return;
      if (!pending && event.type !== 'application.created') {
        const listeners = listenersOf(event);
        if (listeners.length <= CHUNK_SIZE) return listeners.forEach((each) => each.offer(event, false));
      }
      const delivery: Promise<void> = (pending ?? Promise.resolve())
        .then(() => deliverInOrder(event))
        .catch(endAll)
        .finally(() => {
          if (pending === delivery) pending = undefined;
        });
      pending = delivery;
    },
  };
}
