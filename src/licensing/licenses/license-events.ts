import type { EventType } from '../../foundation/events/events.ts';
import type { LicenseAction } from './license-state.ts';

/** The event of each change. */
export const LICENSE_EVENTS = {
  ban: 'license.banned',
  unban: 'license.unbanned',
  pause: 'license.paused',
  resume: 'license.resumed',
  delete: 'license.deleted',
} as const satisfies Record<LicenseAction | 'delete', EventType>;
