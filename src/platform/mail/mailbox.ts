import { domainToASCII, domainToUnicode } from 'node:url';
import { isIP } from 'node:net';

/** The sender of a mail. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** No server accepts longer ones (RFC 5321, 4.5.3.1, as corrected). */
const LONGEST_ADDRESS = 254;
const LONGEST_LOCAL_PART_BYTES = 64;
const LONGEST_NAME = 200;
/** A dot-atom in any script (RFC 6532). Quoted local parts are refused: they are rare and easily misread. */
const LOCAL_PART =
  /^[^\s\p{Cc}\p{Cf}\p{Cs}\p{Z}()<>[\]:;@\\,."]+(\.[^\s\p{Cc}\p{Cf}\p{Cs}\p{Z}()<>[\]:;@\\,."]+)*$/u;
const DOMAIN_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Whether a text is a single mail address without a name or brackets. */
export function isMailAddress(text: string): boolean {
  if (text.length > LONGEST_ADDRESS) return false;
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), asciiDomain(text.slice(at + 1))];
  return (
    Buffer.byteLength(local) <= LONGEST_LOCAL_PART_BYTES &&
    LOCAL_PART.test(local) &&
    !CONTROL.test(text) &&
    domain.split('.').every((label) => DOMAIN_LABEL.test(label))
  );
}

/**
 * A domain in ASCII. The URL parser ignores paths, escapes and invisible characters, by which one mailbox would have
 * any number of addresses, so the result must equal the text.
 * @returns an empty text if it does not, or if the domain is an IP address
 */
function asciiDomain(text: string): string {
  const ascii = domainToASCII(text);
  const isItself = [ascii, domainToUnicode(ascii)].includes(text.toLowerCase());
  return isItself && isIP(ascii) === 0 ? ascii : '';
}

/** Whether a text fits in one line of a mail's header. */
export function isHeaderText(text: string): boolean {
  return !CONTROL.test(text);
}

/** Reads `Name <address>` or `address`. @returns undefined if it is neither */
export function parseMailbox(text: string): Mailbox | undefined {
  const mailbox = text.trim();
  const start = mailbox.indexOf('<');
  if (start !== -1 && !mailbox.endsWith('>')) return undefined;
  const address = start === -1 ? mailbox : mailbox.slice(start + 1, -1);
  const name = mailbox.slice(0, Math.max(start, 0)).trim().replace(/^"|"$/g, '');
  if (!isMailAddress(address) || !isHeaderText(text)) return undefined;
  if (/["<>]/.test(name) || name.length > LONGEST_NAME) return undefined;
  return { name: name.trim(), address };
}

/** The default sender, at the host of a URL. An IP address is not a domain, so it becomes `localhost`. */
export function defaultMailbox(url: string): Mailbox {
  const { hostname } = new URL(url);
  const isName = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0;
  const address = `no-reply@${hostname}`;
  return { name: 'Latchkey', address: isName && isMailAddress(address) ? address : 'no-reply@localhost' };
}
