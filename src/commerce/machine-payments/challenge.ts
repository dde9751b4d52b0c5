import canonicalize from 'canonicalize';
import { isSameSecret } from '../../platform/constant-time.ts';

/** How long a challenge can be paid. */
export const CHALLENGE_MS = 5 * 60 * 1000;

/** The only payment method: a card, by a token of the processor. */
export const METHOD = 'stripe';
const INTENT = 'charge';

/** The offer and its price. */
export interface Terms {
  /** In base units of the currency. */
  readonly amount: string;
  readonly currency: string;
  readonly description: string;
}

/**
 * A challenge of the HTTP authentication scheme `Payment`, each member as it is on the wire. `id` binds all
 * others, so that nothing is stored before a client pays.
 */
export interface Challenge {
  readonly id: string;
  /** The host that requires the payment. */
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  /** Base64url of JSON (RFC 8785): the terms, and the method's parameters. */
  readonly request: string;
  readonly expires?: string | undefined;
  readonly digest?: string | undefined;
  /** Base64url of JSON, opaque to the payer: it makes each challenge unique. */
  readonly opaque?: string | undefined;
  readonly description?: string | undefined;
}

/** HMAC of a text under a key of this installation. */
export type Digest = (text: string) => Buffer;

/** @param networkId the audience of payment tokens */
export function createChallenge(
  terms: Terms,
  { realm, networkId, now, nonce }: ChallengeContext,
  digest: Digest,
): Challenge {
  const unnamed = {
    realm,
    method: METHOD,
    intent: INTENT,
    request: encode({ ...terms, methodDetails: { networkId, paymentMethodTypes: ['card'] } }),
    expires: new Date(now.getTime() + CHALLENGE_MS).toISOString(),
    opaque: encode({ nonce: nonce.toString('base64url') }),
    description: terms.description,
  };
  return { id: idOf(unnamed, digest), ...unnamed };
}

interface ChallengeContext {
  readonly realm: string;
  readonly networkId: string;
  readonly now: Date;
  /** Random bytes. */
  readonly nonce: Buffer;
}

/** A challenge in the form of `WWW-Authenticate`. */
export function serializeChallenge(challenge: Challenge): string {
  const parameters = Object.entries(challenge).map(
    ([name, value]: [string, string]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`,
  );
  return `Payment ${parameters.join(', ')}`;
}

/**
 * The terms of a challenge, if it was created under this key and is unaltered.
 * @returns undefined for any other challenge
 */
export function verifyChallenge(challenge: Challenge, digest: Digest): Issued | undefined {
  if (!isSameSecret(challenge.id, idOf(challenge, digest))) return undefined;
  const { amount, currency, description } = JSON.parse(
    Buffer.from(challenge.request, 'base64url').toString(),
  ) as Terms;
  // The protocol does not bind the description to `id`, but the request contains it too.
  if (challenge.description !== undefined && challenge.description !== description) return undefined;
  return { terms: { amount, currency, description }, expiresAt: new Date(challenge.expires!) };
}

interface Issued {
  readonly terms: Terms;
  readonly expiresAt: Date;
}

/** What a payer sends: the challenge, and the proof of the payment. */
export interface Credential {
  readonly challenge: Challenge;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** @returns undefined for a value that is not a credential of any method */
export function readCredential(value: unknown): Credential | undefined {
  if (!isObject(value) || !isObject(value['challenge']) || !isObject(value['payload'])) return undefined;
  const { challenge, payload, source } = value;
  if (!isOptionalText(source)) return undefined;
  const { id, realm, method, intent, request, expires, digest, opaque, description } = challenge;
  if (![id, realm, method, intent, request].every((member) => typeof member === 'string')) return undefined;
  if (![expires, digest, opaque, description].every(isOptionalText)) return undefined;
  const members = { id, realm, method, intent, request, expires, digest, opaque, description };
  return { challenge: members as Challenge, payload };
}

/** The payload of the method `stripe`. */
export interface CardPayload {
  /** The processor's token: a shared payment token. */
  readonly spt: string;
  /** The payer's own id of the payment. */
  readonly externalId?: string | undefined;
}

/** @returns undefined for a payload of another form */
export function readCardPayload({ spt, externalId }: Credential['payload']): CardPayload | undefined {
  if (typeof spt !== 'string' || !/^[!-~]{1,255}$/.test(spt)) return undefined;
  if (!isOptionalText(externalId) || (externalId?.length ?? 0) > 255) return undefined;
  return { spt, externalId };
}

/** A receipt in the form of `Payment-Receipt`. */
export function serializeReceipt(receipt: {
  readonly reference: string;
  readonly paidAt: Date;
  readonly externalId: string | undefined;
}): string {
  const { reference, paidAt, externalId } = receipt;
  return encode({
    method: METHOD,
    reference,
    status: 'success',
    timestamp: paidAt.toISOString(),
    ...(externalId !== undefined && { externalId }),
  });
}

function idOf(challenge: Omit<Challenge, 'id'>, digest: Digest): string {
  const { realm, method, intent, request, expires = '', digest: body = '', opaque = '' } = challenge;
  const text = [realm, method, intent, request, expires, body, opaque].join('|');
  return digest(text).toString('base64url');
}

function encode(value: object): string {
  return Buffer.from(canonicalize(value)!).toString('base64url');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
