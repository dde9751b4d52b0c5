import { createLocalJWKSet, decodeJwt, jwtVerify, type JWTVerifyResult } from 'jose';
import type { components } from '../../../generated/types.ts';
import type { Revocation } from '../../../src/access/security-events/security-events.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import { newDeveloper, unique, type Developer } from '../../support/fixtures.ts';
import type { TestService } from '../../support/service.ts';
import type { Received } from './receiver.ts';

export type Schemas = components['schemas'];
export type NewReceiver = Schemas['SecurityEventReceiverResult'];

type Caller = Pick<Developer, 'token'>;

export const RECEIVERS = '/api/v2/dev/security-event-receivers';
export const AUDIENCE = 'https://idp.example.com';

export function createReceiver(api: Api, caller: Caller, body: unknown): Promise<ApiResponse<NewReceiver>> {
  return api.post<NewReceiver>(RECEIVERS, body, { token: caller.token });
}

/** Registers a receiver of security events. */
export async function newReceiver(
  api: Api,
  caller: Caller,
  url: string,
  authorization?: string,
): Promise<NewReceiver> {
  const wanted = { url, audience: AUDIENCE, ...(authorization !== undefined && { authorization }) };
  const { status, body } = await createReceiver(api, caller, wanted);
  if (status !== 201)
    throw new Error(`createSecurityEventReceiver returned ${status} ${JSON.stringify(body)}`);
  return body;
}

/** The receiver as it is listed now. */
export async function getReceiver(api: Api, caller: Caller, receiverId: string) {
  const path = `${RECEIVERS}?limit=100`;
  const { body } = await api.call<Schemas['SecurityEventReceiverList']>('GET', path, undefined, caller);
  return body.data.find(({ receiver_id }) => receiver_id === receiverId);
}

export function deleteReceiver(api: Api, caller: Caller, receiverId: string): Promise<ApiResponse> {
  return api.call('DELETE', `${RECEIVERS}/${receiverId}`, undefined, { token: caller.token });
}

/** A developer with a token that lasts for days. */
export async function newLastingDeveloper(api: Api): Promise<Developer> {
  const developer = await newDeveloper(api);
  const wanted = { name: 'lasting', scopes: ['read', 'write', 'auth:dev'] };
  const { body } = await api.post<Schemas['CreateApiTokenResult']>('/api/v2/dev/tokens', wanted, developer);
  return { ...developer, token: body.token };
}

/** The revocation of an agent, which is not an asserted one by default. */
export function revocationOf(
  { clock }: Pick<TestService, 'clock'>,
  { developerId }: Pick<Developer, 'developerId'>,
  fields: Partial<Revocation> = {},
): Revocation {
  return {
    agentId: unique('agt'),
    developerId,
    issuer: null,
    subject: null,
    initiatingEntity: 'user',
    revokedAt: clock.now(),
    ...fields,
  };
}

/** Publishes the revocation of an agent. */
export async function publishRevocation(
  service: Pick<TestService, 'clock' | 'database' | 'services'>,
  developer: Pick<Developer, 'developerId'>,
  fields: Partial<Revocation> = {},
): Promise<Revocation> {
  const revocation = revocationOf(service, developer, fields);
  await service.database.knex.transaction((trx) => service.services.securityEvents.publish(trx, revocation));
  return revocation;
}

/** The claims of a token, verified like a receiver does. @throws unless all of it is valid */
export function verify(
  { services, baseUrl, clock }: Pick<TestService, 'services' | 'baseUrl' | 'clock'>,
  { body }: Pick<Received, 'body'>,
): Promise<JWTVerifyResult> {
  const keys = services.signingKeys.published().map(({ publicJwk }) => publicJwk);
  return jwtVerify(body, createLocalJWKSet({ keys }), {
    issuer: baseUrl,
    audience: AUDIENCE,
    typ: 'secevent+jwt',
    algorithms: ['ES256'],
    requiredClaims: ['iat', 'jti', 'sub_id', 'events'],
    maxTokenAge: 60,
    currentDate: clock.now(),
  });
}

/** The ids of the received tokens, in the order of arrival. */
export function jtis(received: readonly Received[]): (string | undefined)[] {
  return received.map(({ body }) => decodeJwt(body).jti);
}

/** The agents in the received tokens, in the order of arrival. */
export function agentsOf(received: readonly Received[]): unknown[] {
  return received.flatMap(({ body }) => {
    const { events } = decodeJwt<{ events: Record<string, { agent_id: string }> }>(body);
    return Object.values(events).map(({ agent_id }) => agent_id);
  });
}
