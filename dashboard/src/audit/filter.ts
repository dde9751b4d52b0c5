import type { Schemas } from '../api/client.ts';
import { startOfDay } from '../lib/days.ts';
import { oneOf, pick } from '../lib/search.ts';

/** What the address of an audit log says: its filters, and the entry whose details are open. */
export const auditSearch = pick(
  'action',
  'kind',
  'actor',
  'target',
  'from',
  'app',
  'since',
  'until',
  'entry',
);

export type AuditSearch = ReturnType<typeof auditSearch>;

/** The filters as the operations take them. */
export interface AuditQuery {
  readonly action?: string;
  readonly action_prefix?: string;
  readonly actor_kind?: Schemas['AuditActorKind'];
  readonly actor_id?: string;
  readonly target?: string;
  readonly address?: string;
  readonly app_id?: string;
  readonly since?: string;
  readonly until?: string;
}

export const ACTOR_KINDS = [
  ['developer', 'Developer'],
  ['api_token', 'API token'],
  ['oauth_client', 'OAuth client'],
  ['agent', 'Agent'],
  ['reseller', 'Reseller'],
  ['administrator', 'Administrator'],
  ['service', 'Latchkey'],
] as const satisfies readonly (readonly [Schemas['AuditActorKind'], string])[];

export const kindLabel = (kind: Schemas['AuditActorKind']): string =>
  ACTOR_KINDS.find(([known]) => known === kind)?.[1] ?? kind;

const PREFIX = /^[a-z_]+(\.[a-z_]*)?$/;

export function auditQuery(search: AuditSearch): AuditQuery {
  const { action, kind, actor, target, from, app, since, until } = search;
  const actorKind = oneOf(
    ACTOR_KINDS.map(([known]) => known),
    kind,
  );
  const first = startOfDay(since);
  const end = startOfDay(until, 1);
  return {
    // The operations refuse a prefix that no action can have. As an action, it matches no entry.
    ...(action && (PREFIX.test(action) ? { action_prefix: action } : { action: action.slice(0, 64) })),
    ...(actorKind && { actor_kind: actorKind }),
    ...(actor && { actor_id: actor }),
    ...(target && { target }),
    ...(from && { address: from }),
    ...(app && { app_id: app }),
    ...(first && { since: first }),
    ...(end && { until: end }),
  };
}
