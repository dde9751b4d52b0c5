import { parseStrictJson } from '../../platform/strict-json.ts';

/**
 * The content of an `Authorization: Payment` header: canonical base64url of JSON.
 * @returns undefined when the header is missing or of another scheme; `credential` is undefined when it cannot be read
 */
export function paymentCredential(
  authorization: string | string[] | undefined,
): { readonly credential: unknown } | undefined {
  const [scheme, ...values] = String(authorization ?? '').split(/ +/);
  if (scheme!.toLowerCase() !== 'payment') return undefined;
  const [encoded, ...others] = values.filter((value) => value !== '');
  return { credential: encoded === undefined || others.length > 0 ? undefined : decode(encoded) };
}

function decode(encoded: string): unknown {
  const bytes = Buffer.from(encoded, 'base64url');
  if (bytes.toString('base64url') !== encoded) return undefined;
  try {
    return parseStrictJson(bytes);
  } catch {
    return undefined;
  }
}
