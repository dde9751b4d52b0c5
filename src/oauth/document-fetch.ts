import type { Configuration } from 'oidc-provider';
import { parseStrictJson } from '../platform/strict-json.ts';
import { exchanges } from './exchange.ts';
import { fail } from './library-pages.ts';
import type { ProviderDependencies } from './library.ts';

const FETCHED_WITHIN_MS = 2500;

/** Fetches documents about clients, which are at addresses that somebody else has chosen. */
export function createDocumentFetch({
  limits,
  outbound,
}: Pick<ProviderDependencies, 'limits' | 'outbound'>): NonNullable<Configuration['fetch']> {
  return async (url, options) => {
    await limits
      .assertMayAsk(['oauth', 'document'], exchanges.getStore()?.address ?? '')
      .catch((error: unknown) => {
        // Otherwise the library would take it for the fault of the document.
        fail(error);
        throw error;
      });
    const headers = Object.fromEntries(new Headers(options?.headers as Record<string, string>));
    const signal = options?.signal ?? AbortSignal.timeout(FETCHED_WITHIN_MS);
    const {
      status,
      headers: answered,
      bytes,
    } = await outbound.get(String(url), { headers, signal, maxBytes: 16_384 });
    // The library would read it less strictly; what is thrown here it takes for a document that cannot be had.
    if (status === 200) parseStrictJson(bytes);
    const kept = ['cache-control', 'expires'].flatMap((name) => {
      const value = answered[name];
      return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    return new Response(new Uint8Array(bytes), { status, headers: kept });
  };
}
