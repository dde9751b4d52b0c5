import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact, REDACTED, requestSchema, responseSchema } from '../../src/http/contract/redaction.ts';

const schema: Parameters<typeof redact>[0] = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    secret: { type: 'string', 'x-redact': true },
    count: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
    codes: { type: 'array', items: { type: 'string', 'x-redact': true } },
    vault: { type: 'object', 'x-redact': true, properties: { open: { type: 'string' } } },
    owner: {
      type: 'object',
      properties: { id: { type: 'string' }, token: { type: 'string', 'x-redact': true } },
    },
    keys: {
      type: 'array',
      items: {
        allOf: [
          { type: 'object', properties: { key: { type: 'string', 'x-redact': true } } },
          { type: 'object', properties: { tier: { type: 'string' } } },
        ],
      },
    },
  },
};

test('shows the members in the contract, except marked ones', () => {
  const value = {
    name: 'ada',
    secret: 's',
    count: 7,
    tags: ['a', 'b'],
    codes: ['c', 'd'],
    vault: { open: 'sesame' },
    owner: { id: 'usr_1', token: 't' },
    keys: [
      { key: 'k1', tier: 'Pro' },
      { key: 'k2', tier: 'VIP' },
    ],
  };
  expect(redact(schema, value)).toEqual({
    name: 'ada',
    secret: REDACTED,
    count: 7,
    tags: ['a', 'b'],
    codes: [REDACTED, REDACTED],
    vault: REDACTED,
    owner: { id: 'usr_1', token: REDACTED },
    keys: [
      { key: REDACTED, tier: 'Pro' },
      { key: REDACTED, tier: 'VIP' },
    ],
  });
});

describe('leaves out', () => {
  test.each<[string, unknown]>([
    ['a mistyped member', { Secret: 's', secret_: 's', ' secret': 's', pasword: 's' }],
    ['a member within a member that should be a scalar', { name: { secret: 's' } }],
    ['a list instead of a scalar', { name: ['s'], count: [['s']] }],
    ['a member of another object', { owner: { secret: 's', name: 's' } }],
    ['a member of the prototype', JSON.parse('{"__proto__":{"secret":"s"},"constructor":"s"}')],
    ['text where there should be an object', { owner: 's', keys: 's', tags: 's' }],
    ['an item where there should be an object', { keys: ['s', ['s']] }],
    ['an object where there should be an item', { tags: [{ a: 's' }], codes: { a: 's' } }],
    ['text for the whole', 's'],
    ['a list for the whole', ['s', { secret: 's' }]],
  ])('%s', (_what, value) => {
    expect(JSON.stringify(redact(schema, value)) ?? '').not.toContain('"s"');
  });

  test('everything where there is no schema', () => {
    for (const value of ['s', 7, { a: 's' }, ['s'], null]) expect(redact(undefined, value)).toBeUndefined();
  });

  test('marked values of every type', () => {
    for (const value of ['s', 7, null, false, ['s'], { a: 's' }]) {
      expect(redact({ 'x-redact': true }, value)).toBe(REDACTED);
    }
  });

  test('a value that is marked in a part of its schema', () => {
    expect(
      JSON.stringify(redact({ allOf: [{ type: 'string', 'x-redact': true }] }, 's')) ?? '',
    ).not.toContain('s"');
  });
});

test('does not change its argument', () => {
  const value = { secret: 's', owner: { token: 't' } };
  redact(schema, value);
  expect(value).toEqual({ secret: 's', owner: { token: 't' } });
});

test('only unmarked members in their place are visible, for any body', () => {
  const names = fc.constantFrom(
    'name',
    'secret',
    'tags',
    'codes',
    'vault',
    'owner',
    'keys',
    'token',
    'key',
    'x',
  );
  // Only `name`, `count`, `tags`, `owner.id` and `keys[].tier` are visible.
  const { value: anything } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, fc.constant('word'), fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(names, tie('value'), { maxKeys: 6 }),
  }));
  fc.assert(
    fc.property(anything, (value) => {
      const seen = redact(schema, value);
      const places: string[] = [];
      const walk = (node: unknown, path: string): void => {
        if (node === 'word') places.push(path);
        else if (typeof node === 'object' && node !== null) {
          for (const [name, member] of Object.entries(node)) {
            walk(member, `${path}/${Array.isArray(node) ? '*' : name}`);
          }
        }
      };
      walk(seen, '');
      const open = ['/name', '/count', '/tags/*', '/owner/id', '/keys/*/tier'];
      expect(places.filter((place) => !open.includes(place))).toEqual([]);
    }),
    { seed: 20_261_121, numRuns: 2_000 },
  );
});

test('content other than JSON is not shown at all', () => {
  const content = { 'text/csv': { schema: { type: 'string' } } };
  const operation = { requestBody: { content }, responses: { 200: { content }, 304: {} } } as never;
  expect(requestSchema(operation)).toBeUndefined();
  for (const status of [200, 304, 404]) expect(responseSchema(operation, status)).toBeUndefined();
  expect(redact(requestSchema(operation), 'license_key;7KQ2M')).toBeUndefined();
});
