import type { components } from '../../../generated/types.ts';
import type { Api } from '../../support/api.ts';

type Scope = components['schemas']['ApiTokenScopes'][number];

/** Creates an API token. @returns its id and the token itself */
export async function newApiToken(
  api: Api,
  maker: { readonly token: string },
  scopes: readonly Scope[],
  more: { readonly name?: string; readonly expires_at?: string | null } = {},
): Promise<{ readonly token_id: string; readonly token: string }> {
  const wanted = { name: 'bot', scopes: [...scopes], ...more };
  const { status, body } = await api.post<components['schemas']['CreateApiTokenResult']>(
    '/api/v2/dev/tokens',
    wanted,
    { token: maker.token },
  );
  if (status !== 201) throw new Error(`POST /api/v2/dev/tokens returned ${status}`);
  return { token_id: body.token_id, token: body.token };
}

/** The entries of a developer's audit log, the newest first. */
export async function auditLog(
  api: Api,
  { token }: { readonly token: string },
  query = '',
): Promise<components['schemas']['AuditEntry'][]> {
  const path = `/api/v2/dev/audit-log?limit=100${query}`;
  const { body } = await api.call<components['schemas']['AuditEntryList']>('GET', path, undefined, { token });
  return body.data;
}
