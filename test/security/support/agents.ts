import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Api } from '../../support/api.ts';
import type { Developer } from '../../support/fixtures.ts';
import type { IdentityProvider } from '../../support/identity-provider.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { readMails } from '../../support/service.ts';
import {
  claim,
  codeOf,
  newEmail,
  pageFor,
  register,
  registerGrant,
} from '../../operations/support/agents.ts';

type Keep = (name: string, value: string) => string;

/** Secrets that the database finds by their SHA-256. */
export const AGENT_HANDLES = [
  'access token',
  'refresh token',
  'authorization code',
  'claim token',
  'token of a mailed link',
  'ephemeral key',
  'claimed bearer token',
  'JWT of an agent',
];

/** Authorizes a client and claims an agent, and keeps every secret that they receive. */
export async function authorizeClientAndAgents(
  api: Api,
  developer: Developer,
  {
    provider,
    dataDir,
    keep,
  }: { readonly provider: IdentityProvider; readonly dataDir: string; readonly keep: Keep },
): Promise<void> {
  const client = await newClient(api, developer);
  keep('client secret', client.client_secret!);
  const scope = 'openid email offline_access read';
  const flow = await authorize(api.baseUrl, developer, client, {
    scope,
    prompt: 'consent',
  });
  keep('authorization code', flow.url.searchParams.get('code')!);
  const tokens = await flow.redeem();
  keep('access token', tokens.access_token);
  keep('refresh token', tokens.refresh_token!);
  keep('ID token', tokens.id_token!);

  const anonymous = (await register(api, { type: 'anonymous' })).body;
  keep('ephemeral key', anonymous.credential);
  const claim_token = keep('claim token', anonymous.claim_token);
  const email = newEmail();
  await claim(api, { claim_token, email });
  const page = await pageFor({ api, mailbox: () => readMails(join(dataDir, 'mail')) }, email);
  keep('token of a mailed link', page.split('/').at(-1)!);
  const otp = await codeOf(api, page);
  // Six digits appear in any text that is long enough, so the test searches for their digest.
  keep('digest of a code', createHash('sha256').update(otp).digest('hex'));
  const claimed = (await claim(api, { claim_token, otp, requested_credential_type: 'bearer_token' })).body;
  keep('claimed bearer token', claimed.credential);

  const assertion = keep('assertion', await provider.grant(api.baseUrl));
  const asserted = (await registerGrant(api, assertion, { requested_credential_type: 'jwt' })).body;
  keep('JWT of an agent', asserted.credential);

  const receiver = {
    url: 'https://receiver.example/events',
    audience: 'https://receiver.example',
    authorization: `Bearer ${keep('authorization of a receiver', 'authorization-that-a-receiver-expects')}`,
  };
  await api.post('/api/v2/dev/security-event-receivers', receiver, developer);
  const { body } = await api.post<{ agent_id: string; credential: string }>(
    '/api/v2/dev/agents',
    { name: 'Bot', scopes: ['read'] },
    developer,
  );
  keep("credential of a developer's agent", body.credential);
  await api.call('DELETE', `/api/v2/dev/agents/${body.agent_id}`, undefined, developer);
}
