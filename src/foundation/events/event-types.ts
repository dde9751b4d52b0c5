/**
 * Every event type and who receives it in addition to the developer: every session of the application, the
 * sessions of the user, the session itself, or no one (`developer`).
 */
export const eventTypes = {
  'application.created': 'developer',
  'application.updated': 'application',
  'application.paused': 'application',
  'application.resumed': 'application',
  'application.disabled': 'application',
  'application.enabled': 'application',
  'application.deleted': 'application',
  'application.secret_rotated': 'developer',
  'application.secret_overlap_ended': 'developer',
  'application.signing_key_rotated': 'application',
  'application.signing_key_retired': 'application',
  'user.created': 'developer',
  'user.imported': 'developer',
  'user.updated': 'user',
  'user.deleted': 'user',
  'user.banned': 'user',
  'user.unbanned': 'user',
  'user.hwid_bound': 'user',
  'user.hwid_reset': 'user',
  'user.password_changed': 'user',
  'user.subscription_extended': 'user',
  'user.subscription_reduced': 'user',
  'user.variable_set': 'user',
  'user.variable_deleted': 'user',
  'login.refused': 'developer',
  'session.created': 'developer',
  'session.ended': 'session',
  'license.created': 'developer',
  'license.imported': 'developer',
  'license.updated': 'developer',
  'license.redeemed': 'user',
  'license.banned': 'developer',
  'license.unbanned': 'developer',
  'license.paused': 'developer',
  'license.resumed': 'developer',
  'license.extended': 'developer',
  'license.transferred': 'developer',
  'license.deleted': 'developer',
  'ban.created': 'developer',
  'ban.lifted': 'developer',
  'variable.set': 'application',
  'variable.deleted': 'application',
  'file.uploaded': 'application',
  'file.updated': 'application',
  'file.deleted': 'application',
  'webhook.created': 'developer',
  'webhook.updated': 'developer',
  'webhook.deleted': 'developer',
  'webhook.secret_rotated': 'developer',
  'webhook.disabled': 'developer',
  // Sent to one endpoint at the developer's request. It is never recorded, so no one else receives it.
  'webhook.test': 'developer',
} as const satisfies Record<string, Audience>;

/** The recipients of an event in addition to the developer. */
export type Audience = 'developer' | 'application' | 'user' | 'session';

export type EventType = keyof typeof eventTypes;

/** Whether a text is an event type. */
export function isEventType(text: string): text is EventType {
  return Object.hasOwn(eventTypes, text);
}
