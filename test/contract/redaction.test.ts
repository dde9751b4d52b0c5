import { OpenAPIBackend, type Document, type Operation } from 'openapi-backend';
import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { redact, REDACTED, requestSchema, responseSchema } from '../../src/http/contract/redaction.ts';

/** Members that are secret wherever they are. */
const SECRET = /^((.*_)?(secret|password|token|otp|credential|pin)|license_key|hwid|session_id|key)$/;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: unknown;
  readonly 'x-redact'?: boolean;
}

const backend = new OpenAPIBackend({
  definition: structuredClone(contract) as unknown as Document,
  quick: true,
});
await backend.init();
const operations = backend.router.getOperations();

/** The bodies of an operation: its requests and responses. */
const bodiesOf = (operation: Operation) => [
  { body: `${operation.operationId} request`, schema: requestSchema(operation) as Schema | undefined },
  ...Object.keys(operation.responses ?? {})
    .filter((status) => status < '400')
    .map((status) => ({
      body: `${operation.operationId} ${status}`,
      schema: responseSchema(operation, Number(status)) as Schema | undefined,
    })),
];
const bodies = operations.flatMap(bodiesOf);

/** Every member of a schema with its place, except members of marked ones. */
function membersOf(schema: Schema | undefined, place = ''): { place: string; marked: boolean }[] {
  if (!schema) return [];
  if (schema['x-redact']) return [{ place, marked: true }];
  const own = place === '' ? [] : [{ place, marked: false }];
  return [
    ...own,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      membersOf(property, `${place}/${name}`),
    ),
    ...membersOf(schema.items, `${place}/*`),
    ...(schema.allOf ?? []).flatMap((part) =>
      membersOf(part, place).filter((member) => member.place !== place),
    ),
  ];
}

const hasMembers = ({ properties, allOf }: Schema) => properties !== undefined || allOf !== undefined;

/** The places of a schema that are for members with any name. */
function openPlaces(schema: Schema | undefined, place = ''): string[] {
  if (!schema) return [];
  return [
    ...(schema.additionalProperties && !(schema.additionalProperties === true && hasMembers(schema))
      ? [place]
      : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      openPlaces(property, `${place}/${name}`),
    ),
    ...openPlaces(schema.items, `${place}/*`),
    ...(schema.allOf ?? []).flatMap((part) => openPlaces(part, place)),
  ];
}

/** Members that must stay marked, by operation. New secrets are found by their names. */
const MARKED: Readonly<Record<string, readonly string[]>> = {
  'loginUserV2 request': ['/hwid', '/password'],
  'loginUserV2 200': ['/token'],
  'loginWithLicense request': ['/hwid', '/license_key'],
  'loginWithLicense 200': ['/token'],
  'verifySessionV2 request': ['/hwid', '/token'],
  'logoutUserV2 request': ['/session_token', '/token'],
  'initApplication request': ['/secret'],
  'initApplication 200': ['/session_id'],
  'registerUser request': ['/hwid', '/license_key', '/password', '/secret'],
  'loginUser request': ['/hwid', '/password', '/secret'],
  'loginUser 200': ['/session_id', '/token', '/user/hwid'],
  'verifySession request': ['/hwid', '/token'],
  'activateLicense request': ['/license_key', '/secret'],
  'logoutUser request': ['/token'],
  'authenticateSandbox request': ['/hwid'],
  'authenticateSandbox 200': ['/token'],
  'verifySandboxSession request': ['/hwid', '/token'],
  'registerDeveloper request': ['/password'],
  'registerDeveloper 201': ['/token'],
  'loginDeveloper request': ['/password'],
  'loginDeveloper 200': ['/token'],
  'createBrowserSession request': ['/password', '/token'],
  'createApiToken 201': ['/token'],
  'createApplication 201': ['/secret'],
  'rotateApplicationSecret 200': ['/secret'],
  'createLicenses 201': ['/licenses/*/license_key'],
  'listLicenses 200': ['/data/*/license_key'],
  'createBan request': ['/hwid'],
  // The URL of a receiver often contains a key to write to it.
  'createWebhook request': ['/url'],
  'createWebhook 201': ['/secret', '/url'],
  'listWebhooks 200': ['/data/*/url'],
  'getWebhook 200': ['/url'],
  'updateWebhook request': ['/url'],
  'updateWebhook 200': ['/url'],
};

test('these members are marked', () => {
  const marked = bodies
    .map(({ body, schema }) => [
      body,
      membersOf(schema)
        .filter((member) => member.marked)
        .map(({ place }) => place)
        .sort(),
    ])
    .filter(([, places]) => places!.length > 0);
  expect(Object.fromEntries(marked)).toMatchObject(MARKED);
});

test('every member with the name of a secret is marked', () => {
  const forgotten = bodies.flatMap(({ body, schema }) =>
    membersOf(schema)
      .filter(({ place, marked }) => SECRET.test(place.split('/').at(-1)!) && !marked)
      .map(({ place }) => `${body} ${place}`),
  );
  expect(forgotten).toEqual([]);
});

test('no marks are in places that redaction does not visit', () => {
  const hidden: string[] = [];
  const walk = (node: unknown, place: string): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, member] of Object.entries(node)) {
      const elsewhere = ['oneOf', 'anyOf', 'not', 'additionalProperties'].includes(name);
      if (elsewhere && JSON.stringify(member).includes('"x-redact":true')) hidden.push(`${place}/${name}`);
      walk(member, `${place}/${name}`);
    }
  };
  for (const { body, schema } of bodies) walk(schema, body);
  expect(hidden).toEqual([]);
});

describe('the examples of the contract, redacted', () => {
  const examples = operations.flatMap((operation) => {
    const exampleOf = (content: unknown) =>
      (content as { 'application/json'?: { example?: unknown } } | undefined)?.['application/json']?.example;
    const { content: sent } = (operation.requestBody ?? {}) as { content?: unknown };
    return [
      [`${operation.operationId} request`, requestSchema(operation), exampleOf(sent)] as const,
      ...Object.entries(operation.responses ?? {})
        .filter(([status]) => status < '400')
        .map(
          ([status, response]) =>
            [
              `${operation.operationId} ${status}`,
              responseSchema(operation, Number(status)),
              exampleOf((response as { content?: unknown }).content),
            ] as const,
        ),
    ];
  });

  test.each(examples.filter(([, schema]) => schema !== undefined))('%s', (body, schema, example) => {
    const seen = redact(schema, example);
    const places: string[] = [];
    const walk = (before: unknown, after: unknown, place: string): void => {
      if (after === REDACTED) return void places.push(place);
      if (typeof before !== 'object' || before === null) return expect(after).toEqual(before);
      // Members that the contract does not name are not shown.
      if (openPlaces(schema as Schema).includes(place)) return expect(after).toEqual({});
      // A missing member would be one that the contract does not name.
      expect(Object.keys(after as object)).toEqual(Object.keys(before));
      for (const [name, member] of Object.entries(before)) {
        walk(
          member,
          (after as Record<string, unknown>)[name],
          `${place}/${Array.isArray(before) ? '*' : name}`,
        );
      }
    };
    walk(example, seen, '');
    const marked = membersOf(schema as Schema).filter((member) => member.marked);
    const wanted = new Set(marked.map(({ place }) => place));
    expect(new Set(places).isSubsetOf(wanted), body).toBe(true);
  });
});
