import { EVENT_TYPES, type EventType } from '../../lib/event-types.ts';
import { plural } from '../../lib/format.ts';

const GROUPS = [...new Set(EVENT_TYPES.map(groupOf))];

function groupOf(type: string): string {
  return type.slice(0, type.indexOf('.'));
}

/** The choices of the filter: each group, followed by its types. */
export const TYPE_OPTIONS: readonly (readonly [value: string, label: string])[] = [
  ['', 'Any type'],
  ...GROUPS.flatMap((group) => {
    const types = EVENT_TYPES.filter((type) => groupOf(type) === group);
    const each = types.map((type) => [type, type] as const);
    return types.length === 1
      ? each
      : [[group, `${group}.* (${plural(types.length, 'type')})`] as const, ...each];
  }),
];

/** The types that a value of the filter stands for; undefined for any. */
export function typesOf(value: string | undefined): readonly EventType[] | undefined {
  const types = EVENT_TYPES.filter((type) => type === value || groupOf(type) === value);
  return types.length > 0 ? types : undefined;
}
