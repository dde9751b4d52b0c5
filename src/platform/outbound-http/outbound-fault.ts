/** A request failed for a reason on the other side. The message is for the person who configured the URL. */
export class OutboundFault extends Error {
  override name = 'OutboundFault';
}

const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name does not exist.',
  ENODATA: 'The host name has no address.',
  ESERVFAIL: 'The host name could not be resolved.',
  EREFUSED: 'The host name could not be resolved.',
  ETIMEOUT: 'The host name could not be resolved.',
  EBADNAME: 'The host name is not valid.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  EPIPE: 'The connection was reset.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
  EADDRNOTAVAIL: 'The host cannot be reached.',
  ETIMEDOUT: 'The connection took too long.',
  ERR_SOCKET_CONNECTION_TIMEOUT: 'The connection took too long.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is signed by itself.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate authority is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate authority is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate authority is not trusted.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host.',
};

/** Explains why a request failed. @returns undefined for an internal error */
export function outboundFault(error: unknown): OutboundFault | undefined {
  if (error instanceof OutboundFault) return error;
  const { code, errors, name } = error as { code?: string; errors?: unknown[]; name?: string };
  // Several addresses were tried without success.
  if (name === 'AggregateError' && errors?.length) return outboundFault(errors[0]);
  if (code === undefined) return undefined;
  const words = WORDS[code];
  if (words !== undefined) return new OutboundFault(words, { cause: error });
  if (code.startsWith('HPE_')) return new OutboundFault('The response is not HTTP.', { cause: error });
  if (/SSL|TLS|CERT|EPROTO/.test(code)) {
    return new OutboundFault('No secure connection could be established.', { cause: error });
  }
  return undefined;
}
