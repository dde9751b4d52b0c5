import { addressOf, requestSignIn, type Schemas } from '../client.ts';
import { asProblem, Problem, problemOf, unreachable } from '../problem.ts';
import { type BrowserSession, readSession } from '../session.ts';
import { createFrameReader } from './frames.ts';
import { backoff, pause } from './pause.ts';

export type LiveEvent = Schemas['ApplicationEvent'];

/** The path of the operation streamAccountEvents. */
export const STREAM_PATH = addressOf('GET /api/v2/dev/events/stream', {});

/** The service sends something every 15 seconds. */
const SILENCE_MS = 45_000;
/** A stream that ends sooner counts as a failure, so that a broken proxy does not get a request every second. */
const STABLE_MS = 10_000;

interface Following {
  /** The developer whose events these are. */
  readonly account: string;
  /** The event after which the stream continues. Undefined starts with what happens next. */
  readonly lastId: () => string | undefined;
  readonly onConnecting: () => void;
  /** @param from the event after which the stream continues */
  readonly onConnected: (from: string | undefined) => void;
  readonly onFailed: (problem: Problem) => void;
  /** Events in order, and the position after them. */
  readonly onEvents: (events: readonly LiveEvent[], lastId: string | undefined) => void;
  /** The service no longer has the event to continue after: what happened since then is not in the stream. */
  readonly onReset: () => void;
  /** Aborts when waiting for the next attempt has become pointless. */
  readonly hurry: () => AbortSignal;
  /** Aborts when someone has signed in or out, which a stream that is open detects late. */
  readonly sameSession: () => AbortSignal;
  readonly signal: AbortSignal;
}

/** Follows the events of the account until the signal aborts, and reconnects whenever the stream ends. */
export async function followEvents(following: Following): Promise<void> {
  const { signal, onConnecting, onFailed, hurry } = following;
  let failures = 0;
  while (!signal.aborted) {
    let wait: number;
    const stable = setTimeout(() => (failures = 0), STABLE_MS);
    try {
      onConnecting();
      await readOnce(following);
      failures += 1;
      wait = backoff(failures);
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      const problem = asProblem(error);
      onFailed(problem);
      if (isSignedOut(problem) && (await requestSignIn())) {
        // At once, but not again and again if the sign-in does not help.
        await pause(failures > 1 ? backoff(failures) : 0, signal);
        continue;
      }
      const { retryAfterSeconds = 0 } = problem;
      wait = isFinal(problem) ? Infinity : Math.max(backoff(failures), retryAfterSeconds * 1_000);
    } finally {
      clearTimeout(stable);
    }
    await pause(wait, signal, hurry());
  }
}

/** Whether the user has to sign in again. */
const isSignedOut = ({ status, code }: Problem): boolean => status === 401 || code === OTHER_ACCOUNT;

/** Whether only the user can change that it fails: they dismissed the sign-in, or signed in as someone else. */
function isFinal(problem: Problem): boolean {
  return isSignedOut(problem) || problem.status === 403;
}

const OTHER_ACCOUNT = 'OTHER_ACCOUNT';

/** Reads one stream to its end. @throws Problem if it cannot be opened */
async function readOnce(following: Following): Promise<void> {
  const { account, lastId, onConnected, sameSession, signal } = following;
  const leaving = new AbortController();
  const silence = startTimer(() => leaving.abort(), SILENCE_MS);
  const from = lastId();
  try {
    const response = await openStream(from, AbortSignal.any([signal, sameSession(), leaving.signal]));
    // Only now: an account that signs in between the check and the request would be the one whose events are read.
    assertAccount(account, await readSession());
    onConnected(from);
    await readParts(response, following, silence.restart).catch(() => {
      // The connection broke, or was silent for too long: the next one continues where it was.
    });
  } finally {
    silence.stop();
    leaving.abort();
  }
}

function startTimer(run: () => void, ms: number) {
  let timer = setTimeout(run, ms);
  return {
    restart() {
      clearTimeout(timer);
      timer = setTimeout(run, ms);
    },
    stop: () => clearTimeout(timer),
  };
}

/** @throws Problem */
function assertAccount(account: string, session: BrowserSession | null): void {
  if (session === null)
    throw new Problem({ title: 'Signed out', detail: 'You are signed out.', status: 401 });
  if (session.kind === 'developer' && session.developer_id === account) return;
  throw new Problem({
    title: 'Another account is signed in',
    detail: 'Someone has signed in with another account in this browser.',
    hint: 'Reload the page.',
    code: OTHER_ACCOUNT,
  });
}

/** @throws Problem if the service refuses, or is not reached */
async function openStream(lastId: string | undefined, signal: AbortSignal): Promise<Response> {
  const headers = { Accept: 'text/event-stream', ...(lastId !== undefined && { 'Last-Event-ID': lastId }) };
  let response: Response;
  try {
    response = await fetch(STREAM_PATH, { headers, credentials: 'same-origin', cache: 'no-store', signal });
  } catch (error) {
    throw unreachable(error);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** Passes on what a stream has, part by part: many events that arrive together stay together. */
async function readParts(
  { body }: Response,
  { onEvents, onReset }: Following,
  onPart: () => void,
): Promise<void> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  const frames = createFrameReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onPart();
    const events: LiveEvent[] = [];
    let lastId: string | undefined;
    for (const { id, type, data } of frames(value)) {
      lastId = id ?? lastId;
      if (type === 'stream.reset') onReset();
      else if (type !== undefined && data !== undefined) events.push(JSON.parse(data) as LiveEvent);
    }
    if (events.length > 0 || lastId !== undefined) onEvents(events, lastId);
  }
}
