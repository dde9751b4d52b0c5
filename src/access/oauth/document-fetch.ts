import type { Configuration } from 'oidc-provider';
import { parseStrictJson } from '../../platform/strict-json.ts';
import { requestContext } from './request-context.ts';
import { setFailure } from './provider-pages.ts';
import type { ProviderDependencies } from './provider-dependencies.ts';

const TIMEOUT_MS = 2500;

/** Fetches the metadata documents of clients, whose URLs strangers choose. */
export function createDocumentFetch({
  limits,
  outbound,
}: Pick<ProviderDependencies, 'limits' | 'outbound'>): NonNullable<Configuration['fetch']> {
  return async (url, options) => {
    await limits
      .assertRequestAllowed(['oauth', 'document'], requestContext.getStore()?.address ?? '')
      .catch((error: unknown) => {
        // Otherwise oidc-provider would report a fault of the document.
        setFailure(error);
        throw error;
      });
    const headers = Object.fromEntries(new Headers(options?.headers as Record<string, string>));
    const signal = options?.signal ?? AbortSignal.timeout(TIMEOUT_MS);
    const {
      status,
      headers: responseHeaders,
      bytes,
    } = await outbound.get(String(url), { headers, signal, maxBytes: 16_384 });
    // oidc-provider parses less strictly; it treats an error from here as a document that is unavailable.
    if (status === 200) parseStrictJson(bytes);
    const caching = ['cache-control', 'expires'].flatMap((name) => {
      const value = responseHeaders[name];
      return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    return new Response(new Uint8Array(bytes), { status, headers: caching });
  };
}
