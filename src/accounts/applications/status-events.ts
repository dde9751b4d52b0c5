import type { EventType } from '../../foundation/events/events.ts';
import type { ApplicationStatus } from './application-state.ts';

/** The event of a change of status. */
export function eventOfStatus(before: ApplicationStatus, after: ApplicationStatus): EventType {
  if (before === after) return 'application.updated';
  if (after === 'paused') return 'application.paused';
  if (after === 'disabled') return 'application.disabled';
  return before === 'paused' ? 'application.resumed' : 'application.enabled';
}
