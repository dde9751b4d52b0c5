import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { eventTypes } from '../../src/foundation/events/event-types.ts';
import { resolve, type ContractSchema } from './operations.ts';

/**
 * Strings that requests may choose freely, by the name of the member or parameter, and why they have no list of
 * values. A string that the service compares with a list is an `enum` in the contract, so that clients know the list
 * and a wrong value is refused.
 */
const OPEN: Readonly<Record<string, string>> = {
  ...of('names something that exists', [
    'app_id',
    'agent_id',
    'authorization_id',
    'ban_id',
    'checkout_id',
    'client_id',
    'delivery_id',
    'developer_id',
    'file_name',
    'invoice_id',
    'key_id',
    'license_id',
    'license_ids',
    'plan_id',
    'plan_name',
    'receiver_id',
    'reseller_id',
    'token_id',
    'user_id',
    'user_ids',
    'username',
    'webhook_id',
    'tier',
  ]),
  ...of('is a secret, or proves something', [
    'assertion',
    'authorization',
    'claim_token',
    'credential',
    'hwid',
    'license_key',
    'new_password',
    'nonce',
    'otp',
    'password',
    'secret',
    'session_token',
    'token',
    'x-signature',
    'x-timestamp',
    'Idempotency-Key',
    'Content-Digest',
    'X-Checksum-SHA256',
    'executable_hash',
    'executable_hashes',
  ]),
  ...of('is text of the developer', [
    'audience',
    'description',
    'features',
    'mask',
    'minimum_version',
    'name',
    'note',
    'reason',
    'role',
    'tiers',
    'value',
    'version',
  ]),
  ...of('is an address', [
    'address',
    'cancel_url',
    'network',
    'success_url',
    'url',
    'email',
    'download_url',
    'redirect_uris',
    'post_logout_redirect_uris',
  ]),
  ...of('has a list that is not of this service', ['currency']),
  ...of('is a place in a list', ['after', 'cursor', 'Last-Event-ID', 'If-None-Match', 'If-Range', 'Range']),
  ...of('searches: what does not exist matches nothing', ['action', 'actor_id', 'q', 'target']),
  ...of('searches, and is a list with commas: what does not exist matches nothing', ['type']),
};

function of(reason: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}

interface Found {
  readonly name: string;
  readonly where: string;
}

/** Strings of a schema that no list, no format of a moment or an address bounds. */
function openStrings(schema: ContractSchema, name: string, where: string, depth = 0): readonly Found[] {
  const { type, enum: values, format = '', properties = {}, items, allOf = [] } = resolve(schema);
  const own =
    type === 'string' && !values && format !== 'date-time' && format !== 'date' ? [{ name, where }] : [];
  if (depth > 8) throw new Error(`${where} has no end`);
  return [
    ...own,
    ...allOf.flatMap((part) => openStrings(part, name, where, depth + 1)),
    ...(items ? openStrings(items, name, where, depth + 1) : []),
    ...Object.entries(properties).flatMap(([member, each]) => openStrings(each, member, where, depth + 1)),
  ];
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly schema: ContractSchema;
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: ContractSchema }>> };
}

/** What a processor of payments sends is not for clients to write. */
const OF_OTHERS = ['receivePaymentEvent'];

const found = Object.values(contract.paths).flatMap((item) => {
  const { parameters: ofPath = [], ...methods } = item as unknown as Operation & Record<string, Operation>;
  return Object.values(methods as Record<string, Operation>).flatMap((operation) => {
    const { operationId, parameters = [], requestBody } = operation;
    if (operationId === undefined || OF_OTHERS.includes(operationId)) return [];
    return [
      ...[...ofPath, ...parameters]
        .map((parameter) => resolve(parameter))
        .flatMap(({ name, schema }) => openStrings(schema, name, operationId)),
      ...Object.entries(requestBody?.content ?? {})
        .filter(([type]) => type === 'application/json')
        .flatMap(([, { schema }]) => openStrings(schema, '', operationId)),
    ];
  });
});

describe('strings of requests', () => {
  test('are bounded by a list, or open for a reason', () => {
    const undecided = found.filter(({ name }) => !Object.hasOwn(OPEN, name));
    expect(undecided).toEqual([]);
  });

  test('every reason is one of a string that there is', () => {
    const names = new Set(found.map(({ name }) => name));
    expect(Object.keys(OPEN).filter((name) => !names.has(name))).toEqual([]);
  });
});

test('webhooks can receive every type of event', () => {
  const { items } = contract.components.schemas.WebhookEventTypes;
  const recorded = Object.keys(eventTypes).filter((type) => type !== 'webhook.test');
  expect(items.enum.toSorted()).toEqual(['*', ...recorded].toSorted());
});
