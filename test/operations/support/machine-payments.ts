import type { components } from '../../../generated/types.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import { unique } from '../../support/fixtures.ts';

export const ACCESS = '/api/v1/agent/access';

/** The parameters of a challenge in the header. */
export type WireChallenge = Readonly<Record<string, string>>;

/** The challenge of a response. */
export function challengeOf({ headers }: Pick<ApiResponse, 'headers'>): WireChallenge {
  const header = headers.get('www-authenticate') ?? '';
  return Object.fromEntries(
    [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
  );
}

export async function newChallenge(api: Api): Promise<WireChallenge> {
  return challengeOf(await api.call('GET', ACCESS));
}

/** A token that the test processor accepts. */
export const SPT = 'spt_test_visa';

/** A payer's credential for a challenge, by default with a new token, because each token pays once. */
export function credential(
  challenge: unknown,
  payload: unknown = { spt: unique(SPT) },
  more: object = {},
): string {
  return encoded(JSON.stringify({ challenge, payload, ...more }));
}

export const encoded = (text: string) => `Payment ${Buffer.from(text).toString('base64url')}`;

export type AgentAccess = components['schemas']['AgentAccessResult'] & { readonly code?: string };

export function access(api: Api, authorization: string): Promise<ApiResponse<AgentAccess>> {
  return api.call<AgentAccess>('GET', ACCESS, undefined, { headers: { authorization } });
}

/** Pays. @returns the token that was bought */
export async function newAgentToken(api: Api): Promise<string> {
  const { status, body } = await access(api, credential(await newChallenge(api)));
  if (status !== 200) throw new Error(`GET ${ACCESS} returned ${status} ${JSON.stringify(body)}`);
  return body.access_token;
}
