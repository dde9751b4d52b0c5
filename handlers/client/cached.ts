/**
 * Headers of an answer that a client may keep and ask about again.
 * @param tag the entity tag of its content
 */
export function cached(tag: string): Readonly<Record<string, string>> {
  // What is seen depends on the session: nobody else may be given a kept answer, and nobody unasked.
  return { ETag: tag, 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };
}
