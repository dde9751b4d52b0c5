import canonicalize from 'canonicalize';
import { isSameSecret } from '../platform/constant-time.ts';

/** How long a challenge can be paid. */
export const CHALLENGE_MS = 5 * 60 * 1000;

/** The one method of payment that is taken: a card, by a token of the processor. */
export const METHOD = 'stripe';
const INTENT = 'charge';

/** What is sold, and for how much. */
export interface Terms {
  /** In base units of the currency. */
  readonly amount: string;
  readonly currency: string;
  readonly description: string;
}

/**
 * A challenge of the HTTP authentication scheme `Payment`, each member as it is on the wire. `id` binds all others: of what
 * the terms are nothing is kept until somebody pays for them.
 */
export interface Challenge {
  readonly id: string;
  /** The host that asks for the payment. */
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  /** Base64url of JSON (RFC 8785): the terms, and what the method needs. */
  readonly request: string;
  readonly expires?: string | undefined;
  readonly digest?: string | undefined;
  /** Base64url of JSON, of no meaning to whoever pays: makes each challenge another one. */
  readonly opaque?: string | undefined;
  readonly description?: string | undefined;
}

/** HMAC of a text under a key of this installation. */
export type Digest = (text: string) => Buffer;

/** @param networkId whom payment tokens must be made out to */
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

/** A challenge as `WWW-Authenticate` carries it. */
export function serialiseChallenge(challenge: Challenge): string {
  const parameters = Object.entries(challenge).map(
    ([name, value]: [string, string]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`,
  );
  return `Payment ${parameters.join(', ')}`;
}

/**
 * What a challenge asks for, if it was made under this key and is as it was made.
 * @returns undefined for any other one
 */
export function verifyChallenge(challenge: Challenge, digest: Digest): Issued | undefined {
  if (!isSameSecret(challenge.id, idOf(challenge, digest))) return undefined;
  const { amount, currency, description } = JSON.parse(
    Buffer.from(challenge.request, 'base64url').toString(),
  ) as Terms;
  // By the protocol no part of what `id` binds, but it is in the request, too.
  if (challenge.description !== undefined && challenge.description !== description) return undefined;
  return { terms: { amount, currency, description }, expiresAt: new Date(challenge.expires!) };
}

interface Issued {
  readonly terms: Terms;
  readonly expiresAt: Date;
}

/** What a payer sends: the challenge, and what proves the payment. */
export interface Credential {
  readonly challenge: Challenge;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** @returns undefined for what is no credential, of whatever method */
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

/** What pays by our method. */
export interface CardPayload {
  /** The processor's token: a shared payment token. */
  readonly spt: string;
  /** The payer's own name of the payment. */
  readonly externalId?: string | undefined;
}

/** @returns undefined when it is of another form */
export function readCardPayload({ spt, externalId }: Credential['payload']): CardPayload | undefined {
  if (typeof spt !== 'string' || !/^[!-~]{1,255}$/.test(spt)) return undefined;
  if (!isOptionalText(externalId) || (externalId?.length ?? 0) > 255) return undefined;
  return { spt, externalId };
}

/** What a payer is told about a payment, as `Payment-Receipt` carries it. */
export function serialiseReceipt(receipt: {
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
