/** Headers of a response that a client may cache and revalidate. */
export function cached(tag: string): Readonly<Record<string, string>> {
  // The content depends on the session: no cache may serve it to another client, or without revalidation.
  return { ETag: tag, 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };
}
