import { z } from 'zod';
import { canonicalNetwork } from '../platform/address.ts';
import { decodeMasterKey } from '../platform/master-key.ts';

/** The address of a service, without a trailing slash. */
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine((url) => !/[?#]/.test(url), { error: 'must not have a query or a fragment' })
  .transform((url) => withoutFinalSlashes(url));

function withoutFinalSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

/** Master keys, the current one first. */
export const masterKey = z
  .string()
  .transform((text) => text.split(',').map((part) => decodeMasterKey(part)))
  .refine((keys): keys is Buffer[] => keys.every((key) => key !== undefined), {
    error: 'must be 32 bytes in base64 (openssl rand -base64 32), or several separated by commas',
  });

/** Addresses and networks, in their canonical form. */
export const networks = z
  .string()
  .transform((text) => text.split(',').map((part) => canonicalNetwork(part.trim())))
  .refine((all): all is string[] => !all.includes(undefined), {
    error: 'must be IP addresses or networks in CIDR form, separated by commas',
  });

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** An address whose responses cannot be altered in transit: https, or the loopback interface. */
const secureUrl = z
  .url({ protocol: /^https?$/, error: 'must be https addresses' })
  .refine((url) => !/[?#]/.test(url), { error: 'must not have a query or a fragment' })
  .refine((url) => url.startsWith('https:') || LOOPBACK.test(new URL(url).hostname), {
    error: 'must be https addresses, except on the loopback interface',
  });

const issuerEntry = z
  .strictObject({
    issuer: secureUrl,
    jwks_uri: secureUrl.optional(),
    client_ids: z.array(z.string().min(1)).optional(),
  })
  .transform(({ issuer, jwks_uri, client_ids }) => ({
    issuer,
    jwksUri: jwks_uri ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`,
    clientIds: client_ids,
  }));

/** Issuers separated by commas, or JSON for more options. */
export const agentIssuers = z
  .string()
  .transform((text, context) => {
    if (!text.trimStart().startsWith('[')) return text.split(',').map((each) => ({ issuer: each.trim() }));
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue('must be addresses separated by commas, or a JSON array');
      return z.NEVER;
    }
  })
  .pipe(z.array(issuerEntry))
  .refine((all) => new Set(all.map(({ issuer }) => issuer)).size === all.length, {
    error: 'must not name an issuer twice',
  });

/** Ids of OAuth clients: registered ones, and addresses of metadata documents. */
export const clientIds = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine((all) => all.every((id) => /^(cli_[0-9a-z]{26}|https:\/\/\S+)$/.test(id)), {
    error: 'must be client ids (cli_… or https://…), separated by commas',
  });

/** The largest object that S3 accepts in parts of the size used here. */
const LARGEST_FILE = 64 * 1024 ** 3;

/** The maximum size of a file, in bytes. */
export const fileSize = z
  .string()
  .regex(/^[1-9]\d{0,10}$/, { error: 'must be a whole number of bytes' })
  .transform(Number)
  .refine((bytes) => bytes <= LARGEST_FILE, { error: `must be at most ${LARGEST_FILE} bytes` });

/** A number of requests in a number of seconds. */
export const rateLimit = z
  .string()
  .regex(/^[1-9]\d{0,9}\/[1-9]\d{0,5}$/, { error: 'must be requests/seconds, such as 100/60' })
  .transform((text) => {
    const [requests, seconds] = text.split('/').map(Number) as [number, number];
    return { requests, seconds };
  });

/** An address of a PostgreSQL server; it is parsed when the connection is opened. */
export const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/\S*$/, { error: 'must be a postgres:// address' });
