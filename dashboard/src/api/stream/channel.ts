import { BASE } from '../base.ts';
import type { Problem } from '../problem.ts';
import type { LiveEvent } from './connection.ts';

/** Whether events arrive. After a failure, the next attempt follows by itself. */
export interface StreamStatus {
  readonly state: 'connecting' | 'connected' | 'failed';
  /** Why the last attempt failed. */
  readonly failure?: Problem['details'];
}

/** The messages between the tabs of a browser. Only the tab that reads the stream sends its status and events. */
export type TabMessage =
  /** A tab has begun to listen, and wants to know where the stream is. */
  | { readonly kind: 'hello' }
  /** The user does not want to wait for the next attempt. */
  | { readonly kind: 'retry' }
  /** `from` is the event after which a stream that is connected continues. */
  | {
      readonly kind: 'status';
      readonly status: StreamStatus;
      readonly from?: string;
      readonly lastId?: string;
    }
  | { readonly kind: 'events'; readonly events: readonly LiveEvent[]; readonly lastId?: string }
  | { readonly kind: 'reset' };

/** Connects the tabs of an account. Browsers without channels have tabs that know nothing of each other. */
export function openChannel(account: string, receive: (message: TabMessage) => void) {
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(nameFor(account)) : undefined;
  channel?.addEventListener('message', ({ data }) => receive(data as TabMessage));
  return {
    send: (message: TabMessage) => channel?.postMessage(message),
    close: () => channel?.close(),
  };
}

/** The name of an account's channel and lock. Services behind different paths of one host have different ones. */
export const nameFor = (account: string): string => `latchkey${BASE} events ${account}`;

/** Whether the tabs can agree which one reads the stream: not on plain HTTP, except on a loopback address. */
export const canShare = (): boolean =>
  typeof BroadcastChannel === 'function' && (navigator.locks as LockManager | undefined) !== undefined;
