/** One kind of error. */
export interface CatalogueEntry {
  /** The statuses it is answered with: the usual one first. */
  readonly statuses: readonly [number, ...number[]];
  readonly title: string;
  /** What is wrong, where nothing more specific is known. */
  readonly detail: string;
  /** What to do about it. */
  readonly hint: string;
  /** The address by which clients of a protocol know it; our own page about it when left out. */
  readonly type?: string;
}

/** Every error that the service answers with: one row a code. */
export const catalogue = {
  VALIDATION_FAILED: {
    statuses: [400],
    title: 'Validation failed',
    detail: 'The request is not what the operation takes.',
    hint: 'Correct every member that is listed in errors and send the request again.',
  },
  MALFORMED_JSON: {
    statuses: [400],
    title: 'Malformed JSON',
    detail: 'The body is not JSON.',
    hint: 'Send one UTF-8 JSON object without a byte order mark, in which no member appears twice.',
  },
  MALFORMED_REQUEST: {
    statuses: [400],
    title: 'Malformed request',
    detail: 'The request is not valid HTTP.',
    hint: 'Check the request line, the percent-encoding of the path and the headers.',
  },
  CHECKSUM_MISMATCH: {
    statuses: [400],
    title: 'Checksum mismatch',
    detail: 'The content that arrived has another SHA-256 than the request says.',
    hint: 'Compute the checksum of the bytes that you send, and send them again.',
  },
  LICENSE_UNUSABLE: {
    statuses: [400],
    title: 'License unusable',
    detail: 'The licence key cannot be redeemed.',
    hint: 'It is banned, paused or past its last day of redemption: ask whoever sold it.',
  },
  LICENSE_NOT_APPLICABLE: {
    statuses: [400, 409],
    title: 'License not applicable',
    detail: 'The licence key would add nothing to this user.',
    hint: 'The user holds a lifetime of this tier or a higher one. The key is unspent: use it for another user.',
  },
  LICENSE_ALREADY_USED: {
    statuses: [400, 409],
    title: 'License already used',
    detail: 'The licence key has been redeemed before.',
    hint: 'A key works once: ask for another one.',
  },
  PLAN_NOT_APPLICABLE: {
    statuses: [400],
    title: 'Plan not applicable',
    detail: 'The plan would be paid for nothing.',
    hint: 'Compare it with the plan that you are on: GET /api/v2/dev/me says which one that is.',
  },
  INVALID_PAYMENT_NOTICE: {
    statuses: [400],
    title: 'Invalid payment notice',
    detail: 'The payment processor has not signed this for us within the last 5 minutes.',
    hint: 'Send the bytes as they were signed; compare the signing secret, the account and the clock.',
  },
  UNAUTHORIZED: {
    statuses: [401],
    title: 'Unauthorized',
    detail: 'The credentials are missing, invalid or expired.',
    hint: 'Send a valid bearer token in the Authorization header.',
  },
  INVALID_APP_CREDENTIALS: {
    statuses: [401],
    title: 'Invalid application credentials',
    detail: 'There is no application with this app_id and secret.',
    hint: "Compare app_id and secret with those in the developer's account; a signature is that of the raw bytes of the body.",
  },
  APPLICATION_INACTIVE: {
    statuses: [401],
    title: 'Application inactive',
    detail: 'The application is disabled.',
    hint: 'Its developer can enable it again.',
  },
  INVALID_CREDENTIALS: {
    statuses: [401, 403],
    title: 'Invalid credentials',
    detail: 'The name or the password is wrong.',
    hint: 'Check both and try again.',
  },
  SIGNATURE_REQUIRED: {
    statuses: [401],
    title: 'Signature required',
    detail: 'The request must be signed: x-signature and x-timestamp belong together.',
    hint: 'Use the operation of v2, and send x-timestamp and x-signature as it describes them.',
  },
  SIGNATURE_VERSION_UNSUPPORTED: {
    statuses: [400],
    title: 'Signature version not supported',
    detail: 'The x-signature-version is not a version that exists.',
    hint: 'Send x-signature-version: 2, and sign as version 2 describes; or leave the header out for version 1.',
  },
  TIMESTAMP_OUT_OF_RANGE: {
    statuses: [401],
    title: 'Timestamp out of range',
    detail: 'The x-timestamp is more than 300 seconds off.',
    hint: 'Set the clock right, or send Unix milliseconds that follow server_time.',
  },
  NONCE_REUSED: {
    statuses: [401],
    title: 'Nonce reused',
    detail: 'A request with this nonce has been taken before.',
    hint: 'Make a new unpredictable nonce for every request, also for one that is tried again.',
  },
  SESSION_INVALID: {
    statuses: [401],
    title: 'Session invalid',
    detail: 'There is no such session, or it has ended.',
    hint: 'Log in again.',
  },
  SESSION_EXPIRED: {
    statuses: [401],
    title: 'Session expired',
    detail: 'The session is older than 24 hours.',
    hint: 'Log in again.',
  },
  INVALID_ASSERTION: {
    statuses: [401],
    title: 'Invalid assertion',
    detail: 'The assertion is not accepted.',
    hint: 'Get another assertion from an issuer that this service trusts, made out to this issuer, and send it once.',
  },
  INTERACTION_REQUIRED: {
    statuses: [401],
    title: 'Interaction required',
    detail: 'The person has an account here, and has not let this issuer in yet.',
    hint: 'Begin a claim with claim_token: the person signs in and confirms, once.',
  },
  UNSUPPORTED_CREDENTIAL_TYPE: {
    statuses: [400],
    title: 'Unsupported credential type',
    detail: 'An agent that registers in this way does not get such a credential.',
    hint: 'Ask for one of credential_types_supported in /.well-known/oauth-authorization-server.',
  },
  INVALID_RESET_TOKEN: {
    statuses: [401],
    title: 'Invalid reset token',
    detail: 'There is no such token, or it was used or has expired.',
    hint: 'Ask for another mail: the link of each works once and within an hour.',
  },
  INVALID_CLAIM_TOKEN: {
    statuses: [401],
    title: 'Invalid claim token',
    detail: 'There is no such claim, or it was rejected.',
    hint: 'Register the agent again, and use the claim_token of that answer.',
  },
  OTP_INVALID: {
    statuses: [401],
    title: 'Code invalid',
    detail: 'The code is not the one that the page shows.',
    hint: 'Ask the person to read it to you once more: after five wrong codes another one is needed.',
  },
  OTP_EXPIRED: {
    statuses: [410],
    title: 'Code expired',
    detail: 'The code is older than ten minutes, or was guessed too often, or there is none yet.',
    hint: 'Ask the person to open the mailed link and to read you the code that the page shows.',
  },
  CLAIM_EXPIRED: {
    statuses: [410],
    title: 'Claim expired',
    detail: 'The claim is older than 24 hours.',
    hint: 'Register the agent again.',
  },
  ALREADY_CLAIMED: {
    statuses: [409],
    title: 'Already claimed',
    detail: 'The agent was claimed before.',
    hint: 'Use the credential that it has, or register another agent.',
  },
  INVALID_SECURITY_EVENT: {
    statuses: [400],
    title: 'Invalid security event',
    detail: 'The token is no security event that is accepted here.',
    hint: 'Sign it as an issuer that is trusted here, made out to this issuer, with an event of events_supported.',
  },
  DELEGATED_CREDENTIAL: {
    statuses: [403],
    title: 'Delegated credential',
    detail: 'This is for developers themselves: not for clients and agents that act for them.',
    hint: "Use the token of the developer's login, or an API token.",
  },
  AGENT_NOT_FOUND: {
    statuses: [404],
    title: 'Agent not found',
    detail: 'There is no such agent.',
    hint: 'Use an agent_id that GET /api/v2/dev/agents lists.',
  },
  CLIENT_NOT_FOUND: {
    statuses: [404],
    title: 'Client not found',
    detail: 'There is no such client.',
    hint: 'Use a client_id that GET /api/v2/dev/oauth-clients lists.',
  },
  AUTHORIZATION_NOT_FOUND: {
    statuses: [404],
    title: 'Authorization not found',
    detail: 'There is no such authorization.',
    hint: 'Use an authorization_id that GET /api/v2/dev/authorizations lists.',
  },
  RECEIVER_NOT_FOUND: {
    statuses: [404],
    title: 'Receiver not found',
    detail: 'There is no such receiver.',
    hint: 'Use a receiver_id that GET /api/v2/dev/security-event-receivers lists.',
  },
  TOO_MANY_RECEIVERS: {
    statuses: [409],
    title: 'Too many receivers',
    detail: 'There are 20 receivers of security events already.',
    hint: 'Delete one that is not needed any more.',
  },
  SIGNING_KEY_NOT_FOUND: {
    statuses: [404],
    title: 'Signing key not found',
    detail: 'There is no such key, or it was removed.',
    hint: 'Use a key_id that GET /api/v2/admin/signing-keys lists.',
  },
  METHOD_UNSUPPORTED: {
    statuses: [400],
    title: 'Method unsupported',
    detail: 'The payment is of a method that is not taken here.',
    hint: 'Pay by the method that a challenge of this address names.',
    type: 'https://paymentauth.org/problems/method-unsupported',
  },
  PAYMENT_REQUIRED: {
    statuses: [402],
    title: 'Payment required',
    detail: 'This is for agents that pay.',
    hint: 'Send the credential that the challenge in WWW-Authenticate asks for to /api/v1/agent/access.',
    type: 'https://paymentauth.org/problems/payment-required',
  },
  MALFORMED_CREDENTIAL: {
    statuses: [402],
    title: 'Malformed credential',
    detail: 'The payment credential cannot be read.',
    hint: 'Send base64url, without padding, of JSON with the challenge as it came and a payload with an spt.',
    type: 'https://paymentauth.org/problems/malformed-credential',
  },
  INVALID_CHALLENGE: {
    statuses: [402],
    title: 'Invalid challenge',
    detail: 'The challenge is not one of this service, was altered, or is already used.',
    hint: 'Pay for the challenge in WWW-Authenticate, and send it back exactly as it came.',
    type: 'https://paymentauth.org/problems/invalid-challenge',
  },
  PAYMENT_EXPIRED: {
    statuses: [402],
    title: 'Payment expired',
    detail: 'The challenge is older than 5 minutes.',
    hint: 'Pay for the challenge in WWW-Authenticate before it expires. Nothing was charged.',
    type: 'https://paymentauth.org/problems/payment-expired',
  },
  VERIFICATION_FAILED: {
    statuses: [402],
    title: 'Verification failed',
    detail: 'The payment was declined.',
    hint: 'Pay for the challenge in WWW-Authenticate with another payment token. Nothing was charged.',
    type: 'https://paymentauth.org/problems/verification-failed',
  },
  INSUFFICIENT_BALANCE: {
    statuses: [402, 409],
    title: 'Insufficient balance',
    detail: "The reseller's balance is too low.",
    hint: 'Ask the developer for credit, or take less. Nothing was charged.',
  },
  PAYMENT_DECLINED: {
    statuses: [402],
    title: 'Payment declined',
    detail: 'The payment processor could not take the money.',
    hint: 'Nothing has changed. Use another means of payment.',
  },
  APPLICATION_PAUSED: {
    statuses: [403],
    title: 'Application paused',
    detail: 'The developer has paused this application.',
    hint: 'Try again later: subscriptions do not run down in the meantime.',
  },
  INTEGRITY_FAILED: {
    statuses: [403],
    title: 'Integrity check failed',
    detail: 'The executable is not one that the developer allows.',
    hint: 'Install the program again from its original source.',
  },
  HWID_MISMATCH: {
    statuses: [403],
    title: 'Hardware mismatch',
    detail: 'The account is bound to another machine.',
    hint: 'Log in on the bound machine, or ask the developer to reset the hardware lock.',
  },
  USER_BANNED: {
    statuses: [403],
    title: 'User banned',
    detail: 'The developer has banned this user.',
    hint: "Ask the application's developer.",
  },
  HWID_BANNED: {
    statuses: [403],
    title: 'Hardware banned',
    detail: 'The developer has banned this machine.',
    hint: "Ask the application's developer.",
  },
  ADDRESS_BANNED: {
    statuses: [403],
    title: 'Address banned',
    detail: 'The developer has banned this network address.',
    hint: "Ask the application's developer.",
  },
  VPN_BLOCKED: {
    statuses: [403],
    title: 'VPN blocked',
    detail: 'The application takes no requests through VPNs and proxies.',
    hint: 'Switch the VPN or proxy off and try again.',
  },
  SUBSCRIPTION_EXPIRED: {
    statuses: [403],
    title: 'Subscription expired',
    detail: 'The user has no running subscription.',
    hint: 'Redeem a licence key.',
  },
  INSUFFICIENT_SCOPE: {
    statuses: [403],
    title: 'Insufficient scope',
    detail: 'The token has not the scope that this operation demands.',
    hint: 'Use a token with the scopes that WWW-Authenticate names.',
  },
  RESELLER_SUSPENDED: {
    statuses: [403],
    title: 'Reseller suspended',
    detail: 'The developer has suspended this reseller.',
    hint: 'Lists can still be read. Ask the developer.',
  },
  QUOTA_EXCEEDED: {
    statuses: [403],
    title: 'Quota exceeded',
    detail: "The developer's plan has no room for more.",
    hint: 'Delete what is no longer needed, or move to a larger plan.',
  },
  NOT_FOUND: {
    statuses: [404],
    title: 'Not found',
    detail: 'There is nothing at this address.',
    hint: 'Compare method and path, letter by letter, with openapi.json.',
  },
  APPLICATION_NOT_FOUND: {
    statuses: [404],
    title: 'Application not found',
    detail: 'You have no application with this app_id.',
    hint: 'List your applications to see their identifiers.',
  },
  LICENSE_NOT_FOUND: {
    statuses: [404, 400],
    title: 'License not found',
    detail: 'The application has no such licence key.',
    hint: 'Check the key for typing errors and that it belongs to this application.',
  },
  USER_NOT_FOUND: {
    statuses: [404],
    title: 'User not found',
    detail: 'The application has no user of this name.',
    hint: 'Check the username, or register it first.',
  },
  PREVIOUS_SECRET_NOT_FOUND: {
    statuses: [404],
    title: 'Previous secret not found',
    detail: 'The application has one secret only.',
    hint: 'There is nothing to end: the secret from before the last rotation is not taken any more.',
  },
  BAN_NOT_FOUND: {
    statuses: [404],
    title: 'Ban not found',
    detail: 'The application has no such ban.',
    hint: "List the application's bans to see their identifiers.",
  },
  WEBHOOK_NOT_FOUND: {
    statuses: [404],
    title: 'Webhook not found',
    detail: 'The application has no such webhook endpoint.',
    hint: "List the application's webhooks to see their identifiers.",
  },
  DELIVERY_NOT_FOUND: {
    statuses: [404],
    title: 'Delivery not found',
    detail: 'The webhook endpoint has no such delivery.',
    hint: "List the endpoint's deliveries to see their identifiers; they are kept for 30 days.",
  },
  TOKEN_NOT_FOUND: {
    statuses: [404],
    title: 'Token not found',
    detail: 'There is no such API token.',
    hint: 'List the API tokens to see their identifiers.',
  },
  PLAN_NOT_FOUND: {
    statuses: [404, 400],
    title: 'Plan not found',
    detail: 'There is no such plan on sale.',
    hint: 'Use name, and period where it has one, of a plan that GET /api/v1/client/plans lists; the administrator, its identifier in GET /api/v2/admin/plans.',
  },
  CHECKOUT_NOT_FOUND: {
    statuses: [404],
    title: 'Checkout not found',
    detail: 'You have no checkout with this identifier.',
    hint: 'Use the sessionId that POST /api/v1/checkout has answered.',
  },
  SUBSCRIPTION_NOT_FOUND: {
    statuses: [404],
    title: 'Subscription not found',
    detail: 'There is no subscription that is paid.',
    hint: 'Buy one with POST /api/v1/checkout.',
  },
  INVOICE_NOT_FOUND: {
    statuses: [404],
    title: 'Invoice not found',
    detail: 'There is no such invoice.',
    hint: 'List the invoices to see their identifiers.',
  },
  VARIABLE_NOT_FOUND: {
    statuses: [404],
    title: 'Variable not found',
    detail: 'There is no such variable for you.',
    hint: 'Check the name, letter by letter; some variables are seen with the token of a live session only.',
  },
  FILE_NOT_FOUND: {
    statuses: [404],
    title: 'File not found',
    detail: 'The application has no file of this name.',
    hint: 'Check the name, letter by letter, and that it is percent-encoded as UTF-8.',
  },
  RESELLER_NOT_FOUND: {
    statuses: [404],
    title: 'Reseller not found',
    detail: 'You have no reseller with this reseller_id.',
    hint: 'List your resellers to see their identifiers.',
  },
  PRICE_NOT_FOUND: {
    statuses: [404],
    title: 'Price not found',
    detail: 'You have no price for keys of this application, tier and duration.',
    hint: 'Use app_id, tier and duration_days of one of your prices, exactly as they are.',
  },
  EVENT_NOT_FOUND: {
    statuses: [404],
    title: 'Event not found',
    detail: 'The application has no such event, or it is no longer kept.',
    hint: 'Begin again without after: the list then starts with the oldest event that is kept.',
  },
  METHOD_NOT_ALLOWED: {
    statuses: [405],
    title: 'Method not allowed',
    detail: 'The address does not take this method.',
    hint: 'Use one of the methods in the Allow header.',
  },
  REQUEST_TIMEOUT: {
    statuses: [408],
    title: 'Request timeout',
    detail: 'The request did not arrive in time.',
    hint: 'Send the whole request within 30 seconds; an upload may take longer as long as it gets on.',
  },
  WEBHOOK_DISABLED: {
    statuses: [409],
    title: 'Webhook disabled',
    detail: 'The webhook endpoint is disabled: nothing is sent to it.',
    hint: 'Enable it first, by changing enabled to true.',
  },
  PLAN_NAME_TAKEN: {
    statuses: [409],
    title: 'Plan name taken',
    detail: 'A plan of this name and period, or of a name that looks the same, is sold already.',
    hint: 'Change that plan or archive it, or choose another name.',
  },
  PLAN_IN_USE: {
    statuses: [409],
    title: 'Plan in use',
    detail: 'Everybody begins with this plan.',
    hint: 'Change its quotas instead.',
  },
  INVOICE_NOT_REFUNDABLE: {
    statuses: [409],
    title: 'Invoice not refundable',
    detail: 'So much of the invoice cannot be given back.',
    hint: 'Read the invoice to see what was paid and what was given back of it.',
  },
  USERNAME_TAKEN: {
    statuses: [409],
    title: 'Username taken',
    detail: 'The application already has a user of this name, or of one that looks the same.',
    hint: 'Choose another username, or log in.',
  },
  LICENSE_STATE_CONFLICT: {
    statuses: [409],
    title: 'License state conflict',
    detail: 'The licence is in a status in which this cannot be done.',
    hint: 'Read the licence to see its status: somebody else may have changed it.',
  },
  LICENSE_ALREADY_HELD: {
    statuses: [409],
    title: 'License already held',
    detail: 'The licence belongs to this user already.',
    hint: 'Nothing needs to be moved.',
  },
  LICENSE_NOTHING_LEFT: {
    statuses: [409],
    title: 'License has nothing left',
    detail: 'Nothing of the licence is left that could be moved.',
    hint: 'Its time is over, or a lifetime of its holder has taken it in: generate a new key.',
  },
  EMAIL_TAKEN: {
    statuses: [409],
    title: 'Email taken',
    detail: 'There is already an account with this address.',
    hint: 'Sign in, or use another address.',
  },
  SUBSCRIPTION_NOT_EXTENDABLE: {
    statuses: [409],
    title: 'Subscription not extendable',
    detail: 'The time would add nothing to this user.',
    hint: 'The user holds a lifetime of this tier or a higher one, or would reach past year 9999.',
  },
  RESELLER_HAS_BALANCE: {
    statuses: [409],
    title: 'Reseller has balance',
    detail: 'The reseller still has money.',
    hint: 'Debit what is left of the balance, then delete the reseller.',
  },
  LICENSE_NOT_REFUNDABLE: {
    statuses: [409],
    title: 'License not refundable',
    detail: 'The licence was redeemed, banned or paused.',
    hint: 'Only licences that are still unused are taken back.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    statuses: [409],
    title: 'Idempotency key in use',
    detail: 'A request with this Idempotency-Key is still running.',
    hint: 'Wait for its answer, or send the same request again after Retry-After.',
  },
  PAYLOAD_TOO_LARGE: {
    statuses: [413],
    title: 'Payload too large',
    detail: 'The body is too large.',
    hint: 'Send a smaller body.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    statuses: [415],
    title: 'Unsupported media type',
    detail: 'The Content-Type must be application/json.',
    hint: 'Send UTF-8 JSON with Content-Type: application/json and without Content-Encoding.',
  },
  RANGE_NOT_SATISFIABLE: {
    statuses: [416],
    title: 'Range not satisfiable',
    detail: 'The range begins behind the end of the file.',
    hint: 'Ask for bytes below the size that Content-Range names.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    statuses: [422],
    title: 'Idempotency key reused',
    detail: 'Another request was sent with this Idempotency-Key.',
    hint: 'Make a new key for every request; repeat one only with the very same request.',
  },
  TOO_MANY_REQUESTS: {
    statuses: [429],
    title: 'Too many requests',
    detail: 'More requests than the service takes now.',
    hint: 'Wait for the number of seconds in Retry-After, then try again.',
  },
  HWID_RESET_TOO_SOON: {
    statuses: [429],
    title: 'Hardware reset too soon',
    detail: 'The machine was reset within the last 7 days.',
    hint: 'Wait for the number of seconds in retry_after, or ask the developer to reset it.',
  },
  HEADERS_TOO_LARGE: {
    statuses: [431],
    title: 'Headers too large',
    detail: 'The headers are larger than 16 KiB.',
    hint: 'Send fewer or smaller headers.',
  },
  INTERNAL_ERROR: {
    statuses: [500],
    title: 'Internal error',
    detail: 'The service failed unexpectedly.',
    hint: 'Try again; if it persists, report the request_id to whoever runs this service.',
  },
  HEALTH_CHECK_FAILED: {
    statuses: [500],
    title: 'Health check failed',
    detail: 'A part of the service is not operational.',
    hint: "Look into the service's log for the part that is named in detail.",
  },
  SERVICE_UNAVAILABLE: {
    statuses: [503],
    title: 'Service unavailable',
    detail: 'The database cannot be used just now.',
    hint: 'Wait for the number of seconds in Retry-After, then try again.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof catalogue;

/** Whether a string is a code of the catalogue. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}

/** The last segment of the address of an error's page: `HWID_MISMATCH` is at `hwid-mismatch`. */
export function errorSlug(code: ErrorCode): string {
  return code.toLowerCase().replaceAll('_', '-');
}
