import type { Signer } from '../../src/accounts/signatures/signatures.ts';

/**
 * A successful response with its signature.
 * @param nonce the one of the request; the empty string where it has none
 */
export function signedResult<Result extends object>(signer: Signer, result: Result, nonce: string) {
  return {
    status: 200,
    headers: { 'X-Signature-Version': String(signer.version) },
    body: signer.sign(result, nonce),
  } as const;
}
