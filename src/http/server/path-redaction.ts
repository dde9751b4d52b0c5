import { REDACTED } from '../contract/redaction.ts';

/**
 * Record ids in TypeID form. They name records and grant no access, except that of a checkout, which is the address of
 * its page.
 */
const PUBLIC_ID = /^(?!chk_)[a-z]{3,4}_[0-9a-hjkmnp-tv-z]{26}$/;
/** Whether a text is the id of a record, which may be logged. */
export function isPublicId(text: string): boolean {
  return PUBLIC_ID.test(text);
}

/** More segments than any route has. */
const SHOWN_SEGMENTS = 16;

/** The part of a request target that may be logged. */
export type PathRedaction = (target: string) => string;

/**
 * Makes the redaction of request targets for the log: a segment is shown if it is a word of a known route or a record
 * id, and replaced otherwise. It does not depend on the route of a target, so that a misspelled address
 * (`//account/password/…`, `/%61ccount/…`) shows no more than a correct one.
 * @param routes paths with parameters as `{name}` or `:name`
 */
export function createPathRedaction(routes: Iterable<string>): PathRedaction {
  const words = new Set([...routes].flatMap((route) => route.split('/').filter(isLiteral)));
  const seen = (segment: string) => (words.has(segment) || isPublicId(segment) ? segment : REDACTED);
  return (target) => {
    const segments = target.split('?', 1)[0]!.split('/', SHOWN_SEGMENTS + 1);
    const shown = segments.slice(0, SHOWN_SEGMENTS).map((segment) => segment && seen(segment));
    return [...shown, ...segments.slice(SHOWN_SEGMENTS).map(() => REDACTED)].join('/');
  };
}

function isLiteral(segment: string): boolean {
  return segment !== '' && !segment.startsWith(':') && !segment.includes('{');
}
