import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../../api/client.ts';

export type SigningKey = Schemas['SigningKey'];

export const signingKeysQuery = queryOptions({
  queryKey: ['admin', 'signing-keys'],
  queryFn: ({ signal }) => call('GET /api/v2/admin/signing-keys', { signal }),
});

/** Reads the keys again, and the overview that shows them. */
export function useSigningKeysChanged(): () => Promise<unknown> {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: signingKeysQuery.queryKey }),
      client.invalidateQueries({ queryKey: ['admin', 'installation'] }),
    ]);
}

export const rotate = () => call('POST /api/v2/admin/signing-keys', { once: true });

export const remove = (keyId: string) =>
  call('DELETE /api/v2/admin/signing-keys/{key_id}', { path: { key_id: keyId } });
