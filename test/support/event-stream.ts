import { createParser } from 'eventsource-parser';
import { expect, onTestFinished } from 'vitest';
import type { Api } from './api.ts';
import { expectContract } from './exchange.ts';
import type { TestService } from './service.ts';
import { untilPublished } from './until-published.ts';

/** An event as received by a client. */
export interface Received {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: {
    readonly id?: string;
    readonly type: string;
    readonly app_id: string;
    readonly user_id: string | null;
    readonly data: Record<string, unknown>;
  };
}

export interface Following {
  /** The events received so far. */
  readonly events: Received[];
  /** The id of the last frame, with an event or without. */
  readonly lastId: () => string | undefined;
  readonly comments: () => number;
  readonly retry: () => number | undefined;
  /** Resolves when the stream has ended, with the way it did. */
  readonly ended: Promise<'end' | 'cut'>;
  /** Waits for an event of a type. */
  next(type: string): Promise<Received>;
  close(): Promise<void>;
}

/**
 * Follows a stream of server-sent events from now, at most until the end of the test. Events are published after the
 * request that wrote them, so without waiting for them a stream may begin with what happened before it.
 */
export async function follow(
  service: TestService,
  path: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<Following> {
  await untilPublished(service);
  return openStream(service.api, path, token, headers);
}

/** Like {@link follow}, but it may begin with events of earlier requests that are not published yet. */
export async function openStream(
  api: Api,
  path: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<Following> {
  const leaving = new AbortController();
  const response = await fetch(api.baseUrl + path, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers },
    signal: leaving.signal,
  });
  const { status, body } = response;
  if (status !== 200) throw new Error(`GET ${path} returned ${status}: ${await response.text()}`);
  expectContract({ method: 'GET', path, status, headers: response.headers, text: '' });

  const events: Received[] = [];
  let lastId: string | undefined;
  let comments = 0;
  let retry: number | undefined;
  let text = '';
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      events.push({ id, type: event!, data: JSON.parse(data) as Received['data'] }),
    onComment: () => (comments += 1),
    onRetry: (ms) => (retry = ms),
  });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader.read();
  const take = (part: string) => {
    text += part;
    parser.feed(part);
    lastId = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? lastId;
  };
  take(first.value ?? '');
  const ended = (async () => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return 'end' as const;
        take(value);
      }
    } catch {
      return 'cut' as const;
    }
  })();
  const close = async () => {
    leaving.abort();
    await ended;
  };
  onTestFinished(close);
  return {
    events,
    lastId: () => lastId,
    comments: () => comments,
    retry: () => retry,
    ended,
    close,
    async next(type) {
      await expect.poll(() => events.map((event) => event.type)).toContain(type);
      return events.find((event) => event.type === type)!;
    },
  };
}
