/**
 * Whether a client that sends `If-None-Match` has the content already (RFC 9110, section 13.1.2).
 * @param ifNoneMatch the header's value; undefined if it was not sent
 * @param tag the content's entity tag, with its quotes
 */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const known: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return known.includes(tag);
}
