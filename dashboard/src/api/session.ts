import { createStore } from '../lib/store.ts';
import { addressOf, onSessionEnd, type Schemas, sendRequest } from './client.ts';
import { problemOf } from './problem.ts';
import { announceSessionChange, onSessionChange } from './session-channel.ts';

/** Who is signed in. The credential is a cookie that no script can read. */
export type BrowserSession = Schemas['BrowserSessionResult'];

/** Developers sign in with their password, resellers and the administrator with their token. */
export type Credentials = Schemas['CreateBrowserSessionRequest'];

/** Why the dialog to sign in again is open. */
interface SessionEnd {
  /** The session of another account that has replaced it: a browser has one cookie for all tabs. */
  readonly replacedBy: BrowserSession | null;
}

/** Set while the dialog to sign in again is open. */
export const sessionEnd = createStore<SessionEnd | null>(null);

let own: BrowserSession | null = null;
let waiting: ((signedIn: boolean) => void)[] = [];

/** Keeps whose pages this tab shows. */
export function keepSession(session: BrowserSession): void {
  own = session;
}

/** Whether two sessions are of one account. */
export const isSameAccount = (one: BrowserSession, other: BrowserSession): boolean =>
  one.kind === other.kind && one.developer_id === other.developer_id && one.reseller_id === other.reseller_id;

const isReplaced = () => sessionEnd.get()?.replacedBy != null;

onSessionEnd(async () => {
  if (isReplaced()) return waitForSignIn();
  const now = await readSession().catch(() => null);
  const isOwn = now !== null && (own === null || isSameAccount(own, now));
  if (isOwn) return true;
  sessionEnd.set({ replacedBy: now });
  return waitForSignIn();
}, isReplaced);

onSessionChange((change) => {
  if (own === null) return;
  // What this tab shows belongs to someone who has left.
  if (change === null) return location.reload();
  if (!isSameAccount(own, change)) sessionEnd.set({ replacedBy: change });
  else if (sessionEnd.get()) settleSignIn(true);
});

function waitForSignIn(): Promise<boolean> {
  return new Promise((resolve) => waiting.push(resolve));
}

/** Lets the requests continue that wait for the user to sign in again. */
export function settleSignIn(signedIn: boolean): void {
  sessionEnd.set(null);
  const settled = waiting;
  waiting = [];
  for (const resolve of settled) resolve(signedIn);
}

/** @returns null if no one is signed in. @throws Problem */
export async function readSession(): Promise<BrowserSession | null> {
  const response = await sendRequest('GET', addressOf('GET /api/v2/dev/browser-session', {}));
  if (response.status === 401) {
    // A body that is not read keeps one of the browser's few connections.
    await response.body?.cancel();
    return null;
  }
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as BrowserSession;
}

/** @throws Problem */
export async function signIn(credentials: Credentials): Promise<BrowserSession> {
  const response = await sendRequest('POST', addressOf('POST /api/v2/dev/browser-sessions', {}), credentials);
  if (!response.ok) throw await problemOf(response);
  const started = (await response.json()) as BrowserSession;
  announceSessionChange(started);
  return started;
}

/** @throws Problem */
export async function signOut(): Promise<void> {
  const response = await sendRequest('DELETE', addressOf('DELETE /api/v2/dev/browser-session', {}));
  if (!response.ok && response.status !== 401) throw await problemOf(response);
  announceSessionChange(null);
}
