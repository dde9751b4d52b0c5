/** One kind of error. */
export interface CatalogEntry {
  /** The statuses of its responses, the usual one first. */
  readonly statuses: readonly [number, ...number[]];
  readonly title: string;
  /** What is wrong, where nothing more specific is known. */
  readonly detail: string;
  /** What to do about it. */
  readonly hint: string;
  /** The URL that identifies it in a protocol. By default it is the page of this service about it. */
  readonly type?: string;
}

/** Every error that the service returns: one row for each code. */
export const catalog = {
  VALIDATION_FAILED: {
    statuses: [400],
    title: 'Validation failure',
    detail: 'The request does not match the schema of this operation.',
    hint: 'Correct every member listed in errors, then send the request again.',
  },
  MALFORMED_JSON: {
    statuses: [400],
    title: 'Malformed JSON',
    detail: 'The request body is not valid JSON.',
    hint: 'Send one UTF-8 JSON object without a byte order mark and without duplicate members.',
  },
  MALFORMED_REQUEST: {
    statuses: [400],
    title: 'Malformed request',
    detail: 'The request is not valid HTTP.',
    hint: 'Check the request line, the percent-encoding of the path, and the headers.',
  },
  CHECKSUM_MISMATCH: {
    statuses: [400],
    title: 'Checksum mismatch',
    detail: 'The SHA-256 of the content does not match the request.',
    hint: 'Compute the checksum of the bytes that you send, then send them again.',
  },
  LICENSE_UNUSABLE: {
    statuses: [400],
    title: 'Unusable license',
    detail: 'The license key cannot be redeemed.',
    hint: 'Contact the seller of the key: it is banned, paused, or past its redemption deadline.',
  },
  LICENSE_NOT_APPLICABLE: {
    statuses: [400, 409],
    title: 'Inapplicable license',
    detail: 'The license key would add nothing to this user.',
    hint: 'Use the key, which is still unused, for a user without a lifetime of this tier or a higher one.',
  },
  LICENSE_ALREADY_USED: {
    statuses: [400, 409],
    title: 'Redeemed license',
    detail: 'The license key has already been redeemed.',
    hint: 'Redeem another license key: each key works once.',
  },
  PLAN_NOT_APPLICABLE: {
    statuses: [400],
    title: 'Inapplicable plan',
    detail: "This plan would give you nothing you don't already have.",
    hint: 'Compare the plan with your current one, which GET /api/v2/dev/me returns.',
  },
  INVALID_PAYMENT_EVENT: {
    statuses: [400],
    title: 'Invalid payment event',
    detail: 'The payment processor did not sign this event for this service within the last 5 minutes.',
    hint: 'Send the bytes exactly as they were signed, and check the signing secret, the account, and the clock.',
  },
  UNAUTHORIZED: {
    statuses: [401],
    title: 'Missing or invalid credentials',
    detail: 'The credentials are missing, invalid, or expired.',
    hint: 'Send a valid bearer token in the Authorization header.',
  },
  INVALID_APP_CREDENTIALS: {
    statuses: [401],
    title: 'Invalid application credentials',
    detail: 'No application has this app_id and secret.',
    hint: "Compare app_id and secret with those in the developer's account. Sign the raw bytes of the body.",
  },
  APPLICATION_INACTIVE: {
    statuses: [401],
    title: 'Inactive application',
    detail: 'The application is disabled.',
    hint: 'Contact the developer, who can enable the application again.',
  },
  INVALID_CREDENTIALS: {
    statuses: [401, 403],
    title: 'Invalid credentials',
    detail: 'The name or the password is wrong.',
    hint: 'Check both, then try again.',
  },
  SIGNATURE_REQUIRED: {
    statuses: [401],
    title: 'Missing signature',
    detail: 'The request must have both x-signature and x-timestamp.',
    hint: 'Use the v2 operation, and send x-timestamp and x-signature as its description explains.',
  },
  SIGNATURE_VERSION_UNSUPPORTED: {
    statuses: [400],
    title: 'Unsupported signature version',
    detail: 'The x-signature-version of the request does not exist.',
    hint: 'Send x-signature-version: 2 and sign as version 2 requires, or omit the header for version 1.',
  },
  TIMESTAMP_OUT_OF_RANGE: {
    statuses: [401],
    title: 'Timestamp out of range',
    detail: 'The x-timestamp differs from the server time by more than 300 seconds.',
    hint: 'Correct the clock, or send Unix milliseconds based on server_time.',
  },
  NONCE_REUSED: {
    statuses: [401],
    title: 'Reused nonce',
    detail: 'A request with this nonce has already been accepted.',
    hint: 'Generate a new unpredictable nonce for every request, including retries.',
  },
  SESSION_INVALID: {
    statuses: [401],
    title: 'Invalid session',
    detail: 'The session does not exist or has ended.',
    hint: 'Log in again.',
  },
  SESSION_EXPIRED: {
    statuses: [401],
    title: 'Expired session',
    detail: 'The session is older than 24 hours.',
    hint: 'Log in again.',
  },
  DEVICE_SIGNATURE_INVALID: {
    statuses: [401],
    title: 'Invalid device signature',
    detail: 'The signature of the device is missing or does not match the request.',
    hint: 'Sign the request with the key of a registered device, as the tag Client trust describes.',
  },
  DEVICE_MISMATCH: {
    statuses: [401],
    title: 'Device mismatch',
    detail: 'The session or the machine belongs to another device.',
    hint: 'Sign the request with the device that logged in, or log in on this one.',
  },
  INVALID_ASSERTION: {
    statuses: [401],
    title: 'Invalid assertion',
    detail: 'The assertion is not accepted.',
    hint: 'Get another assertion from a trusted issuer, with this issuer as its audience, and send it once.',
  },
  INTERACTION_REQUIRED: {
    statuses: [401],
    title: 'Required user interaction',
    detail: 'The user has an account here but has not approved this issuer yet.',
    hint: 'Start a claim with claim_token, so that the user can sign in and confirm once.',
  },
  UNSUPPORTED_CREDENTIAL_TYPE: {
    statuses: [400],
    title: 'Unsupported credential type',
    detail: 'This registration type does not support that credential type.',
    hint: 'Request a type from credential_types_supported in /.well-known/oauth-authorization-server.',
  },
  INVALID_RESET_TOKEN: {
    statuses: [401],
    title: 'Invalid reset token',
    detail: 'The token does not exist, has expired, or was already used.',
    hint: 'Request another email: each link works once, within one hour.',
  },
  INVALID_CLAIM_TOKEN: {
    statuses: [401],
    title: 'Invalid claim token',
    detail: 'The claim does not exist or was rejected.',
    hint: 'Register the agent again, and use the claim_token of that response.',
  },
  OTP_INVALID: {
    statuses: [401],
    title: 'Invalid code',
    detail: 'The code does not match the one on the page.',
    hint: 'Ask the user to read the code again: after five wrong codes, a new one is required.',
  },
  OTP_EXPIRED: {
    statuses: [410],
    title: 'Expired code',
    detail: 'The code is older than ten minutes, had too many wrong attempts, or has not been issued.',
    hint: 'Ask the user to open the link in the email and to read you the code on the page.',
  },
  CLAIM_EXPIRED: {
    statuses: [410],
    title: 'Expired claim',
    detail: 'The claim is older than 24 hours.',
    hint: 'Register the agent again.',
  },
  ALREADY_CLAIMED: {
    statuses: [409],
    title: 'Claimed agent',
    detail: 'The agent has already been claimed.',
    hint: 'Use its existing credential, or register another agent.',
  },
  INVALID_SECURITY_EVENT: {
    statuses: [400],
    title: 'Invalid security event',
    detail: 'The token is not a security event that this service accepts.',
    hint: 'Sign the token as a trusted issuer, with this issuer as its audience and an event from events_supported.',
  },
  DELEGATED_CREDENTIAL: {
    statuses: [403],
    title: 'Delegated credential',
    detail: 'This operation does not accept credentials of clients and agents that act for a developer.',
    hint: "Use the token of the developer's login, or an API token.",
  },
  AGENT_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown agent',
    detail: 'The agent does not exist or is not visible to you.',
    hint: 'Use an agent_id from GET /api/v2/dev/agents.',
  },
  CLIENT_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown client',
    detail: 'The client does not exist or is not visible to you.',
    hint: 'Use a client_id from GET /api/v2/dev/oauth-clients.',
  },
  AUTHORIZATION_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown authorization',
    detail: 'The authorization does not exist or is not visible to you.',
    hint: 'Use an authorization_id from GET /api/v2/dev/authorizations.',
  },
  RECEIVER_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown receiver',
    detail: 'The receiver does not exist or is not visible to you.',
    hint: 'Use a receiver_id from GET /api/v2/dev/security-event-receivers.',
  },
  TOO_MANY_RECEIVERS: {
    statuses: [409],
    title: 'Too many receivers',
    detail: 'You already have 20 receivers of security events.',
    hint: 'Delete a receiver that you no longer need.',
  },
  SIGNING_KEY_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown signing key',
    detail: 'The signing key does not exist or was removed.',
    hint: 'Use a key_id from GET /api/v2/admin/signing-keys.',
  },
  METHOD_UNSUPPORTED: {
    statuses: [400],
    title: 'Unsupported payment method',
    detail: 'This service does not accept the payment method of the credential.',
    hint: 'Pay by the method that the challenge names.',
    type: 'https://paymentauth.org/problems/method-unsupported',
  },
  PAYMENT_REQUIRED: {
    statuses: [402],
    title: 'Payment required',
    detail: 'Access for agents requires a payment.',
    hint: 'Pay the challenge in WWW-Authenticate, and send its credential to /api/v1/agent/access.',
    type: 'https://paymentauth.org/problems/payment-required',
  },
  MALFORMED_CREDENTIAL: {
    statuses: [402],
    title: 'Malformed credential',
    detail: 'The payment credential cannot be decoded.',
    hint: 'Send unpadded base64url of JSON with the unchanged challenge and a payload that has an spt.',
    type: 'https://paymentauth.org/problems/malformed-credential',
  },
  INVALID_CHALLENGE: {
    statuses: [402],
    title: 'Invalid challenge',
    detail: 'The challenge is unknown, altered, or already used.',
    hint: 'Pay the challenge in WWW-Authenticate, and send it back unchanged.',
    type: 'https://paymentauth.org/problems/invalid-challenge',
  },
  PAYMENT_EXPIRED: {
    statuses: [402],
    title: 'Expired challenge',
    detail: 'The challenge is older than 5 minutes.',
    hint: 'Pay the challenge in WWW-Authenticate before it expires. You were not charged.',
    type: 'https://paymentauth.org/problems/payment-expired',
  },
  VERIFICATION_FAILED: {
    statuses: [402],
    title: 'Payment verification failure',
    detail: 'The payment was declined.',
    hint: 'Pay the challenge in WWW-Authenticate with another payment token. You were not charged.',
    type: 'https://paymentauth.org/problems/verification-failed',
  },
  INSUFFICIENT_BALANCE: {
    statuses: [402, 409],
    title: 'Insufficient balance',
    detail: "The reseller's balance is too low.",
    hint: 'Ask the developer for credit, or use a smaller amount. The balance is unchanged.',
  },
  PAYMENT_DECLINED: {
    statuses: [402],
    title: 'Declined payment',
    detail: 'The payment processor could not collect the payment.',
    hint: 'Use another payment method. Nothing has changed.',
  },
  APPLICATION_PAUSED: {
    statuses: [403],
    title: 'Paused application',
    detail: 'The developer has paused this application.',
    hint: 'Try again later. Subscriptions do not run down while the application is paused.',
  },
  INTEGRITY_FAILED: {
    statuses: [403],
    title: 'Integrity check failure',
    detail: 'The developer does not allow this executable.',
    hint: 'Install the program again from its original source.',
  },
  HWID_MISMATCH: {
    statuses: [403],
    title: 'Hardware mismatch',
    detail: 'The account is bound to another machine.',
    hint: 'Log in on that machine, or ask the developer to reset the hardware lock.',
  },
  USER_BANNED: {
    statuses: [403],
    title: 'Banned user',
    detail: 'The developer has banned this user.',
    hint: "Contact the application's developer.",
  },
  HWID_BANNED: {
    statuses: [403],
    title: 'Banned machine',
    detail: 'The developer has banned this machine.',
    hint: "Contact the application's developer.",
  },
  ADDRESS_BANNED: {
    statuses: [403],
    title: 'Banned address',
    detail: 'The developer has banned this network address.',
    hint: "Contact the application's developer.",
  },
  VPN_BLOCKED: {
    statuses: [403],
    title: 'Blocked VPN or proxy',
    detail: 'The application does not accept requests through VPNs or proxies.',
    hint: 'Turn off the VPN or proxy, then try again.',
  },
  SUBSCRIPTION_EXPIRED: {
    statuses: [403],
    title: 'Expired subscription',
    detail: 'The user has no active subscription.',
    hint: 'Redeem a license key.',
  },
  INSUFFICIENT_SCOPE: {
    statuses: [403],
    title: 'Insufficient scope',
    detail: 'The token does not have the required scope.',
    hint: 'Use a token with the scopes that WWW-Authenticate names.',
  },
  CROSS_ORIGIN_REQUEST: {
    statuses: [403],
    title: 'Cross-origin request',
    detail: 'The request comes from another origin.',
    hint: 'Use the browser session only on the pages of this service. Programs use a bearer token.',
  },
  ACCOUNT_SUSPENDED: {
    statuses: [403],
    title: 'Suspended account',
    detail: "The developer's account is suspended.",
    hint: 'Contact the operator of this service, who can reinstate the account.',
  },
  RESELLER_SUSPENDED: {
    statuses: [403],
    title: 'Suspended reseller',
    detail: 'The developer has suspended this reseller.',
    hint: 'Contact the developer. You can still read lists.',
  },
  QUOTA_EXCEEDED: {
    statuses: [403],
    title: 'Exceeded quota',
    detail: "The developer's plan does not allow more.",
    hint: 'Delete what you no longer need, or move to a larger plan.',
  },
  NOT_FOUND: {
    statuses: [404],
    title: 'Unknown path',
    detail: 'Nothing exists at this path.',
    hint: 'Compare the method and the path with openapi.json.',
  },
  APPLICATION_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown application',
    detail: 'You have no application with this app_id.',
    hint: 'List your applications to see their identifiers.',
  },
  LICENSE_NOT_FOUND: {
    statuses: [404, 400],
    title: 'Unknown license',
    detail: 'The application has no such license.',
    hint: 'Check the license key for typing errors, and check that it belongs to this application.',
  },
  USER_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown user',
    detail: 'The application has no user with this name.',
    hint: 'Check the username, or register the user first.',
  },
  SESSION_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown session',
    detail: 'There is no live session with this identifier.',
    hint: 'List the sessions again: this one has ended or expired, or never existed.',
  },
  APPLICATION_KEY_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown signing key',
    detail: 'The application has no signing key with this identifier, or it is already retired.',
    hint: "List the application's signing keys to see their identifiers and states.",
  },
  PREVIOUS_SECRET_NOT_FOUND: {
    statuses: [404],
    title: 'No previous secret',
    detail: 'The application has only one secret.',
    hint: 'Do nothing: the secret from before the last rotation is no longer accepted.',
  },
  BAN_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown ban',
    detail: 'The application has no ban with this identifier.',
    hint: "List the application's bans to see their identifiers.",
  },
  WEBHOOK_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown webhook endpoint',
    detail: 'The application has no webhook endpoint with this identifier.',
    hint: "List the application's webhook endpoints to see their identifiers.",
  },
  DELIVERY_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown delivery',
    detail: 'The webhook endpoint has no delivery with this identifier.',
    hint: "List the endpoint's deliveries to see their identifiers. Deliveries are kept for 30 days.",
  },
  TOKEN_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown API token',
    detail: 'The API token does not exist or is not visible to you.',
    hint: 'List the API tokens to see their identifiers.',
  },
  PLAN_NOT_FOUND: {
    statuses: [404, 400],
    title: 'Unknown plan',
    detail: 'No plan with this name is for sale.',
    hint:
      'Use the name of a plan from GET /api/v1/client/plans, and its period if it has one. ' +
      'Administrators use an identifier from GET /api/v2/admin/plans.',
  },
  CHECKOUT_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown checkout',
    detail: 'You have no checkout with this identifier.',
    hint: 'Use the sessionId that POST /api/v1/checkout returned.',
  },
  SUBSCRIPTION_NOT_FOUND: {
    statuses: [404],
    title: 'No subscription',
    detail: 'You have no paid subscription.',
    hint: 'Buy one with POST /api/v1/checkout.',
  },
  DEVELOPER_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown developer',
    detail: 'The developer does not exist.',
    hint: 'List the developers to see their identifiers.',
  },
  INVOICE_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown invoice',
    detail: 'The invoice does not exist.',
    hint: 'List the invoices to see their identifiers.',
  },
  VARIABLE_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown variable',
    detail: 'The variable does not exist or is not visible to you.',
    hint: 'Check the name. Some variables are visible only with the token of a live session.',
  },
  FILE_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown file',
    detail: 'The application has no file with this name.',
    hint: 'Check the name, and percent-encode it as UTF-8.',
  },
  RESELLER_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown reseller',
    detail: 'You have no reseller with this reseller_id.',
    hint: 'List your resellers to see their identifiers.',
  },
  PRICE_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown price',
    detail: 'You have no price for keys of this application, tier, and duration.',
    hint: 'Use the exact app_id, tier, and duration_days of one of your prices.',
  },
  EVENT_NOT_FOUND: {
    statuses: [404],
    title: 'Unknown event',
    detail: 'The application has no event with this identifier, or the event is no longer kept.',
    hint: 'List the events without after, which starts with the oldest event that is kept.',
  },
  METHOD_NOT_ALLOWED: {
    statuses: [405],
    title: 'Unsupported method',
    detail: 'The path does not support this method.',
    hint: 'Use one of the methods in the Allow header.',
  },
  REQUEST_TIMEOUT: {
    statuses: [408],
    title: 'Request timeout',
    detail: 'The request did not arrive in time.',
    hint: 'Send the whole request within 30 seconds. An upload may take longer while it makes progress.',
  },
  WEBHOOK_DISABLED: {
    statuses: [409],
    title: 'Disabled webhook endpoint',
    detail: 'The webhook endpoint is disabled and receives no events.',
    hint: 'Set enabled to true first.',
  },
  PLAN_NAME_TAKEN: {
    statuses: [409],
    title: 'Taken plan name',
    detail: 'A plan with this name and period, or with a name that looks the same, is already for sale.',
    hint: 'Change or archive that plan, or choose another name.',
  },
  PLAN_IN_USE: {
    statuses: [409],
    title: 'Plan in use',
    detail: 'Every developer starts on this plan.',
    hint: 'Change its quotas instead.',
  },
  INVOICE_NOT_REFUNDABLE: {
    statuses: [409],
    title: 'Non-refundable amount',
    detail: 'The refund exceeds the remaining amount of the invoice.',
    hint: 'Read the invoice to see the amounts that were paid and refunded.',
  },
  NEXT_KEY_TOO_YOUNG: {
    statuses: [409],
    title: 'Recent next key',
    detail: 'Programs have not had 30 days to pin the next key.',
    hint: 'Rotate after not_before. Set force to true only if the signing key has leaked.',
  },
  APPLICATION_KEY_IN_USE: {
    statuses: [409],
    title: 'Signing key in use',
    detail: 'The key signs responses.',
    hint: 'Rotate the signing keys first, then retire the previous key.',
  },
  CLIENT_TRUST_REQUIRED: {
    statuses: [426],
    title: 'Required client trust',
    detail:
      'The application accepts only requests for signed responses, and sessions that are bound to a device.',
    hint: 'Send Latchkey-App and Latchkey-Nonce, sign the request with a device, and log in with login-password.',
  },
  SECRET_REQUIRED: {
    statuses: [403],
    title: 'Required application secret',
    detail: 'The application does not accept programs without its secret.',
    hint: 'Turn on the switch secretless_clients, or use the operation whose request contains the secret.',
  },
  USERNAME_TAKEN: {
    statuses: [409],
    title: 'Taken username',
    detail: 'The application already has a user with this name, or with one that looks the same.',
    hint: 'Choose another username, or log in.',
  },
  LICENSE_STATE_CONFLICT: {
    statuses: [409],
    title: 'License status conflict',
    detail: 'The status of the license does not allow this operation.',
    hint: 'Read the license to see its current status.',
  },
  LICENSE_ALREADY_HELD: {
    statuses: [409],
    title: 'Same license holder',
    detail: 'The license already belongs to this user.',
    hint: 'Choose another user, or do nothing.',
  },
  LICENSE_NOTHING_LEFT: {
    statuses: [409],
    title: 'Spent license',
    detail: 'The license has no time left to transfer.',
    hint: 'Generate a new key: the time has ended, or a lifetime of the holder includes it.',
  },
  EMAIL_TAKEN: {
    statuses: [409],
    title: 'Taken email address',
    detail: 'An account with this email address already exists.',
    hint: 'Sign in, or use another address.',
  },
  SUBSCRIPTION_NOT_EXTENDABLE: {
    statuses: [409],
    title: 'Non-extendable subscription',
    detail: 'The time would add nothing to this user.',
    hint: 'Check the subscription: it is a lifetime of this tier or a higher one, or it would end after the year 9999.',
  },
  RESELLER_HAS_BALANCE: {
    statuses: [409],
    title: 'Remaining balance',
    detail: 'The reseller still has a balance.',
    hint: 'Debit the rest of the balance, then delete the reseller.',
  },
  LICENSE_NOT_REFUNDABLE: {
    statuses: [409],
    title: 'Non-refundable license',
    detail: 'The license was redeemed, banned, or paused.',
    hint: 'Return only licenses that are still unused.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    statuses: [409],
    title: 'Idempotency key in use',
    detail: 'Another request with this Idempotency-Key is still running.',
    hint: 'Wait for its response, or send the same request again after Retry-After.',
  },
  PAYLOAD_TOO_LARGE: {
    statuses: [413],
    title: 'Oversized payload',
    detail: 'The request body is too large.',
    hint: 'Send a smaller body.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    statuses: [415],
    title: 'Unsupported media type',
    detail: 'The Content-Type must be application/json.',
    hint: 'Send the body with a Content-Type of this operation, in UTF-8, and without Content-Encoding.',
  },
  RANGE_NOT_SATISFIABLE: {
    statuses: [416],
    title: 'Unsatisfiable range',
    detail: 'The range starts past the end of the file.',
    hint: 'Request bytes below the size that Content-Range names.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    statuses: [422],
    title: 'Reused idempotency key',
    detail: 'A different request was sent with this Idempotency-Key.',
    hint: 'Generate a new key for every request. Reuse a key only to repeat the identical request.',
  },
  TOO_MANY_REQUESTS: {
    statuses: [429],
    title: 'Too many requests',
    detail: 'The service is receiving too many requests right now.',
    hint: 'Wait for the number of seconds in Retry-After, then try again.',
  },
  HWID_RESET_TOO_SOON: {
    statuses: [429],
    title: 'Premature hardware reset',
    detail: 'The machine was reset within the last 7 days.',
    hint: 'Wait for the number of seconds in retry_after, or ask the developer to reset it.',
  },
  HEADERS_TOO_LARGE: {
    statuses: [431],
    title: 'Oversized headers',
    detail: 'The headers are larger than 16 KiB.',
    hint: 'Send fewer or smaller headers.',
  },
  INTERNAL_ERROR: {
    statuses: [500],
    title: 'Internal error',
    detail: 'The service failed unexpectedly.',
    hint: 'Try again. If the error persists, report the request_id to the operator of this service.',
  },
  HEALTH_CHECK_FAILED: {
    statuses: [500],
    title: 'Health check failure',
    detail: 'A part of the service is not operational.',
    hint: "Check the service's log for the part that detail names.",
  },
  SERVICE_UNAVAILABLE: {
    statuses: [503],
    title: 'Temporary unavailability',
    detail: 'The database is temporarily unavailable.',
    hint: 'Wait for the number of seconds in Retry-After, then try again.',
  },
} as const satisfies Record<string, CatalogEntry>;

export type ErrorCode = keyof typeof catalog;

/** Whether a string is a code of the catalog. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalog, code);
}

/** The last segment of the address of an error's page: `HWID_MISMATCH` is at `hwid-mismatch`. */
export function errorSlug(code: ErrorCode): string {
  return code.toLowerCase().replaceAll('_', '-');
}
