import type { Email } from 'postal-mime';
import { expect } from 'vitest';
import type { components } from '../../../generated/types.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import { unique } from '../../support/fixtures.ts';

type Schemas = components['schemas'];

export const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
export const POST_CLAIM = ['read', 'write', 'auth:client', 'agent:execute'];

/** The members of a refusal in addition to those of the problem. */
export interface Refused {
  readonly code?: string;
  readonly error?: string;
  readonly err?: string;
  readonly detail?: string;
  readonly claim_url?: string;
  readonly claim_token?: string;
  readonly claim_token_expires?: string;
}

export type Registered = Required<Schemas['RegisterAgentResult']> & Refused;
export type Claimed = Required<Schemas['ClaimAgentResult']> & Refused;

export const register = (api: Api, body: object): Promise<ApiResponse<Registered>> =>
  api.post<Registered>('/api/v1/agent/register', body);

export const registerGrant = (
  api: Api,
  assertion: string,
  more: object = {},
): Promise<ApiResponse<Registered>> =>
  register(api, { type: 'identity_assertion', assertion_type: ID_JAG, assertion, ...more });

export const registerEmail = (
  api: Api,
  assertion: string,
  more: object = {},
): Promise<ApiResponse<Registered>> =>
  register(api, { type: 'identity_assertion', assertion_type: 'verified_email', assertion, ...more });

export const claim = (api: Api, body: object): Promise<ApiResponse<Claimed>> =>
  api.post<Claimed>('/api/v1/agent/claim', body);

export const revokeCredential = (api: Api, credential: string) =>
  api.post('/api/v1/agent/revoke', { credential });

export const sendEvent = (api: Api, token: string, typ: 'secevent+jwt' | 'logout+jwt') =>
  api.post<Refused>('/api/v1/agent/revoke', token, { headers: { 'content-type': `application/${typ}` } });

/** Whether an operation for agents accepts a credential. */
export async function isAlive(api: Api, token: string): Promise<boolean> {
  const { status } = await api.call('GET', '/api/v1/agent/token', undefined, { token });
  return status !== 401;
}

/** The developer that a credential acts for. */
export async function developerOf(api: Api, token: string): Promise<string> {
  const { body } = await api.call<{ developer_id: string }>('GET', '/api/v2/dev/me', undefined, { token });
  return body.developer_id;
}

/** Registers an agent as a developer. @returns its credential */
export async function newAgent(
  api: Api,
  { token }: { readonly token: string },
  scopes: Schemas['ApiTokenScopes'] = ['read'],
): Promise<{ readonly credential: string }> {
  const wanted = { name: 'Bot', scopes };
  const { status, body } = await api.post<Schemas['CreateAgentResult']>('/api/v2/dev/agents', wanted, {
    token,
  });
  if (status !== 201) throw new Error(`POST /api/v2/dev/agents returned ${status}`);
  return body;
}

export const newEmail = (): string => `${unique('ada')}@example.com`;

/** A service whose mails can be read. */
export interface MailedService {
  readonly api: Api;
  mailbox(): Promise<readonly Email[]>;
}

/** The mails to an address, as soon as there are `count`. */
export async function mailsTo(
  { mailbox }: Pick<MailedService, 'mailbox'>,
  email: string,
  count = 1,
): Promise<readonly Email[]> {
  const found = async () =>
    (await mailbox()).filter(({ to }) => to?.[0]?.address?.toLowerCase() === email.toLowerCase());
  await expect.poll(async () => (await found()).length).toBe(count);
  return found();
}

/** The path of the page that the last mail to an address links to. */
export async function pageFor(service: MailedService, email: string, count = 1): Promise<string> {
  const mails = await mailsTo(service, email, count);
  const pages = mails.map(({ text }) => /\/agent\/claim\/[\w-]{43}/.exec(text!)![0]);
  // Mails of the same time have no order: the page is the one that still accepts a confirmation.
  for (const page of pages) {
    const html = await (await fetch(service.api.baseUrl + page)).text();
    if (html.includes('May this agent act for you?')) return page;
  }
  throw new Error('no mail links to a page that requests a confirmation');
}

/** Sends the form of a page. */
export function submit(api: Api, page: string, fields: Record<string, string> = {}): Promise<Response> {
  return fetch(api.baseUrl + page, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
}

/** Shows the code of a page. */
export async function codeOf(api: Api, page: string, password?: string): Promise<string> {
  const response = await submit(api, page, password === undefined ? {} : { password });
  const [, code] = /class="code">(\d{6})</.exec(await response.text()) ?? [];
  if (code === undefined) throw new Error(`${page} returned ${response.status} without a code`);
  return code;
}

/** Another code with the same number of digits. */
export const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
