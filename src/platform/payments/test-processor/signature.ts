import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isSameSecret } from '../../constant-time.ts';

const TOLERANCE_S = 300;

/** The headers of an event according to Standard Webhooks. @param now the time of this attempt */
export function signedHeaders(
  secret: Buffer,
  eventId: string,
  body: string | Buffer,
  now: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  return {
    'content-type': 'application/json',
    'user-agent': 'Latchkey-Test-Processor/2',
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': sign(secret, eventId, timestamp, Buffer.from(body)),
  };
}

/**
 * Checks the signature and the time of an event. Not done with the library of Standard Webhooks, which uses the system
 * time instead of the clock.
 * @returns its id; undefined if it was not signed with the secret or not within 5 minutes of now
 */
export function verifiedId(
  secret: Buffer,
  body: Buffer,
  headers: IncomingHttpHeaders,
  now: Date,
): string | undefined {
  const {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures,
  } = headers as Record<string, unknown>;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    return undefined;
  }
  if (!/^[0-9]{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(Number(timestamp) - Math.floor(now.getTime() / 1000)) > TOLERANCE_S) return undefined;
  const expected = sign(secret, id, timestamp, body);
  return signatures.split(' ').some((each) => isSameSecret(each, expected)) ? id : undefined;
}

function sign(secret: Buffer, id: string, timestamp: string, body: Buffer): string {
  return `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
