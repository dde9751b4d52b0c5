/**
 * The token of an `Authorization: Bearer` header (RFC 6750, section 2.1).
 * @returns undefined when the header is missing or of another form
 */
export function bearerToken(authorization: string | string[] | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(String(authorization ?? ''))?.[1];
}
