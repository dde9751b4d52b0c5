import { StartupError } from '../startup-error.ts';

/** The address of an S3-compatible store and our credentials. */
export interface S3Address {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Precedes every key. */
  readonly prefix: string;
  /** Undefined to use those of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

const DEFAULT_REGION = 'us-east-1';
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,62}$/i;
const REGION = /^[a-z0-9-]{1,64}$/i;
const PREFIX = /^[\w.~/-]{0,256}$/;

/**
 * Reads `s3://key:secret@host:port/bucket/prefix?region=…&tls=on|off`.
 * @throws StartupError that says what is wrong without quoting the address
 */
export function parseFilesUrl(filesUrl: string): S3Address {
  const url = URL.canParse(filesUrl) ? new URL(filesUrl) : undefined;
  if (!url || url.protocol !== 's3:' || url.hostname === '' || url.hash !== '') throw invalid();
  const [bucket = '', ...path] = url.pathname.slice(1).split('/');
  if (!BUCKET.test(bucket)) throw invalid('its path must begin with the name of a bucket');
  const prefix = path.filter((segment) => segment !== '').join('/');
  if (!PREFIX.test(prefix) || path.includes('..')) throw invalid('the path after the bucket is not valid');

  const { region = DEFAULT_REGION, tls = 'on', ...others } = Object.fromEntries(url.searchParams);
  if (Object.keys(others).length > 0) throw invalid('region and tls are the only parameters');
  if (!REGION.test(region)) throw invalid('region is not valid');
  if (tls !== 'on' && tls !== 'off') throw invalid('tls must be on or off');
  return {
    endpoint: `${tls === 'on' ? 'https' : 'http'}://${url.host}`,
    region,
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    credentials: credentialsOf(url),
  };
}

function credentialsOf({ username, password }: URL): S3Address['credentials'] {
  if (username === '' && password === '') return undefined;
  if (username === '' || password === '') throw invalid('it must have both key and secret, or neither');
  try {
    return { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) };
  } catch {
    // The error contains the secret.
    throw invalid('key and secret must be percent-encoded');
  }
}

function invalid(why = 'it has no host'): StartupError {
  return new StartupError(
    `FILES_URL is not an address of an S3 store, such as s3://key:secret@host:9000/bucket?region=us-east-1: ${why}`,
  );
}
