/** Signs with the private key of an application. */
export interface ApplicationSigner {
  readonly kid: string;
  /** @returns an Ed25519 signature of 64 bytes */
  sign(text: string): Buffer;
}

/**
 * A JWS in compact form (RFC 7515) with the signature of an application (EdDSA, RFC 8037).
 * @param typ the `typ` of its header
 */
export function toJws(signer: ApplicationSigner, typ: string, payload: object): string {
  const signed = [{ alg: 'EdDSA', kid: signer.kid, typ }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${signer.sign(signed).toString('base64url')}`;
}
