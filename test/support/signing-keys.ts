import type { components } from '../../generated/types.ts';
import type { Api } from './api.ts';
import { ADMINISTRATOR } from './billing.ts';

type SigningKey = components['schemas']['SigningKey'];

/** The published keys, as the administrator sees them. */
export async function signingKeys(api: Api): Promise<SigningKey[]> {
  const path = '/api/v2/admin/signing-keys';
  const { body } = await api.call<components['schemas']['SigningKeyList']>(
    'GET',
    path,
    undefined,
    ADMINISTRATOR,
  );
  return body.data;
}

/** The ids of the published keys. */
export async function publishedKeyIds(api: Api): Promise<string[]> {
  const response = await fetch(`${api.baseUrl}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
}
