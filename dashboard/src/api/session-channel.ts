import { BASE } from './base.ts';
import type { Schemas } from './client.ts';

/** Who has signed in, or null if someone has signed out. It carries no credential. */
type Change = Schemas['BrowserSessionResult'] | null;

/** Connects the tabs of the browser: they share one cookie. */
const channel =
  typeof BroadcastChannel === 'function' ? new BroadcastChannel(`latchkey${BASE} session`) : undefined;

type Listener = (change: Change) => void;

/** A channel does not bring a message to the tab that sends it. */
const ownListeners = new Set<Listener>();

export function announceSessionChange(change: Change): void {
  channel?.postMessage(change);
  // After a sign-out this tab loads a new document.
  if (change !== null) for (const listener of ownListeners) listener(change);
}

/** Calls back when someone has signed in or out in another tab. @returns stops listening */
export function onSessionChange(listener: Listener): () => void {
  const listen = ({ data }: MessageEvent<Change>) => listener(data);
  channel?.addEventListener('message', listen);
  return () => channel?.removeEventListener('message', listen);
}

/**
 * Calls back when someone has signed in, in this tab or in another one, or has signed out in another one.
 * @returns stops listening
 */
export function onAnySessionChange(listener: Listener): () => void {
  const stop = onSessionChange(listener);
  ownListeners.add(listener);
  return () => {
    stop();
    ownListeners.delete(listener);
  };
}
