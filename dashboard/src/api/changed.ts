import { type QueryKey, useQueryClient } from '@tanstack/react-query';

/** Reads everything below a key again after a change. */
export function useChanged(queryKey: QueryKey): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey });
}
