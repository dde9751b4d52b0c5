/** The pages on which people sign in to a client and allow it to act for them. */
export const INTERACTION_PATH = '/oauth/interaction/:uid';

/** The paths of the authorization server, with their methods. */
export const OAUTH_PATHS: Readonly<Record<string, readonly string[]>> = {
  '/oauth/authorize': ['GET'],
  '/oauth/authorize/:uid': ['GET'],
  '/oauth/token': ['POST', 'OPTIONS'],
  '/oauth/revoke': ['POST', 'OPTIONS'],
  '/oauth/introspect': ['POST', 'OPTIONS'],
  '/oauth/userinfo': ['GET', 'POST', 'OPTIONS'],
  '/oauth/register': ['POST', 'OPTIONS'],
  '/oauth/device/authorize': ['POST', 'OPTIONS'],
  '/oauth/device': ['GET', 'POST'],
  '/oauth/device/:uid': ['GET'],
  '/oauth/logout': ['GET'],
  '/oauth/logout/confirm': ['POST'],
  '/oauth/logout/success': ['GET'],
  [INTERACTION_PATH]: ['GET', 'POST'],
  '/.well-known/jwks.json': ['GET', 'OPTIONS'],
};

/**
 * Endpoints for programs, including those in browsers: their errors are JSON (RFC 6749, section 5.2), those of the
 * others are pages.
 */
export const OAUTH_FOR_PROGRAMS = Object.keys(OAUTH_PATHS).filter((path) =>
  OAUTH_PATHS[path]!.includes('OPTIONS'),
);
