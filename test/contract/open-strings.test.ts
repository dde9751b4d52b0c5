import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { eventTypes } from '../../src/foundation/events/event-types.ts';
import { resolve, type ContractSchema } from './operations.ts';

/**
 * Strings that requests may choose freely, by the name of the member or parameter, with the reason. A string that the
 * service compares with a list is an `enum` in the contract, so that clients know its values.
 */
const OPEN: Readonly<Record<string, string>> = {
  ...of('names an existing resource', [
    'app_id',
    'agent_id',
    'authorization_id',
    'ban_id',
    'checkout_id',
    'client_id',
    'delivery_id',
    'developer_id',
    'developer_session_id',
    'file_name',
    'invoice_id',
    'key_id',
    'kid',
    'license_id',
    'license_ids',
    'plan_id',
    'plan_name',
    'receiver_id',
    'reseller_id',
    'session_ref',
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
    'x',
    'y',
  ]),
  ...of('is text from the developer', [
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
  ...of('has values that another standard defines', ['currency']),
  ...of('is a position in a list', [
    'after',
    'cursor',
    'Last-Event-ID',
    'If-None-Match',
    'If-Range',
    'Range',
  ]),
  ...of('is a search, and an unknown value matches nothing', [
    'action',
    'action_prefix',
    'actor_id',
    'q',
    'target',
  ]),
  ...of('is a search for a comma-separated list, and an unknown value matches nothing', ['type']),
};

function of(reason: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}

interface Found {
  readonly name: string;
  readonly where: string;
}

/** Strings of a schema without a list of values or a date format. */
function openStrings(schema: ContractSchema, name: string, where: string, depth = 0): readonly Found[] {
  const { type, enum: values, format = '', properties = {}, items, allOf = [] } = resolve(schema);
  const own =
    type === 'string' && !values && format !== 'date-time' && format !== 'date' ? [{ name, where }] : [];
  if (depth > 8) throw new Error(`${where} is recursive`);
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

/** Events of the payment processor are not written by clients. */
const NOT_FROM_CLIENTS = ['receivePaymentEvent'];

const found = Object.values(contract.paths).flatMap((item) => {
  const { parameters: ofPath = [], ...methods } = item as unknown as Operation & Record<string, Operation>;
  return Object.values(methods as Record<string, Operation>).flatMap((operation) => {
    const { operationId, parameters = [], requestBody } = operation;
    if (operationId === undefined || NOT_FROM_CLIENTS.includes(operationId)) return [];
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
  test('have a list of values, or a reason to be open', () => {
    const undecided = found.filter(({ name }) => !Object.hasOwn(OPEN, name));
    expect(undecided).toEqual([]);
  });

  test('every reason is for an existing string', () => {
    const names = new Set(found.map(({ name }) => name));
    expect(Object.keys(OPEN).filter((name) => !names.has(name))).toEqual([]);
  });
});

test('webhooks can receive every type of event', () => {
  const { enum: values } = contract.components.schemas.WebhookEventType;
  const recorded = Object.keys(eventTypes).filter((type) => type !== 'webhook.test');
  expect(values.toSorted()).toEqual(['*', ...recorded].toSorted());
});
