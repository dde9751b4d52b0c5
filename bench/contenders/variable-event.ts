import type { EventMessage } from '../../src/foundation/events/events.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createNewId } from '../../src/platform/ids.ts';
import { systemRandom } from '../../src/platform/random.ts';

const newId = createNewId(systemClock, systemRandom);

/** Latchkey's event for a changed variable. @param path of the request that changes it */
export function variableEvent(path: string): EventMessage {
  const [, appId, name] = /\/apps\/([^/]+)\/variables\/([^/]+)$/.exec(path) as unknown as string[];
  return {
    id: newId('evt'),
    type: 'variable.set',
    timestamp: systemClock.now().toISOString(),
    app_id: appId!,
    user_id: null,
    data: { name, visibility: 'session' },
  };
}
