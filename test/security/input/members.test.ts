import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import contract from '../../../generated/openapi.json' with { type: 'json' };
import {
  operations,
  resolve,
  shapeOf,
  takesJson,
  type ContractOperation,
  type ContractSchema,
} from '../../contract/operations.ts';
import { startTestService } from '../../support/service.ts';
import {
  hasRefusedText,
  hostileJson,
  NAUGHTY_DATES,
  NAUGHTY_STRINGS,
  NUMBERS,
  SEED,
  spread,
  STRUCTURES,
  toJson,
} from '../support/hostile.ts';
import { expectNoFailure, requestOf, type Request } from '../support/requests.ts';
import { nameFormats } from '../../../tools/generate/name-characters.ts';

const service = await startTestService();
const ajv = new Ajv({ strict: false, schemas: { contract: { $id: 'contract', ...contract } } });
(addFormats as unknown as (ajv: Ajv) => void)(ajv);
for (const [name, format] of Object.entries(nameFormats)) ajv.addFormat(name, format);

/** Concurrent requests. */
const AT_ONCE = 4;
const GENERATED = 6;
/** More items than any list may have. */
const MANY = 10_001;

/** A place in a body, at any depth, and its schema in the contract. */
interface Place {
  readonly at: readonly (string | number)[];
  readonly schema: ContractSchema;
}

/** Every place of a body, except the body itself. */
function placesOf(schema: ContractSchema, at: Place['at'] = []): Place[] {
  const { items } = resolve(schema);
  const parts: Place[] = items
    ? [{ at: [...at, 0], schema: items }]
    : Object.entries(shapeOf(schema).properties).map(([name, each]) => ({ at: [...at, name], schema: each }));
  return parts.flatMap((part) => [part, ...placesOf(part.schema, part.at)]);
}

/** URLs that parsers read differently, or not at all. */
const NAUGHTY_URLS = [
  'http://',
  'https://a',
  'https://[::1',
  'https://[::ffff:127.0.0.1]/',
  'https://a:99999/',
  'https://a:0/',
  'https://user:secret@a.example/',
  'https://a.example/%',
  'https://a.example/%00',
  'https://a.example\\@b.example/',
  'https://0x7f.1/',
  'https://xn--a/',
  'https://a..b/',
  'HTTPS://A.EXAMPLE/#',
  `https://a.example/${'a'.repeat(2_030)}`,
  `https://${'a.'.repeat(126)}example/`,
].map(toJson);

const texts = (values: readonly string[]) => values.map(toJson);
const FEW_STRINGS = ['', '\u0000', '\ud800', 'constructor', 'a'.repeat(257), '💣'].map(toJson);
const WRONG_TYPES = ['true', 'null', '0', '1e400', '[]', '["a","a"]', '{}', '{"toString":null,"valueOf":1}'];

/** Hostile values of a place, as JSON text. */
function hostileAt({ schema }: Place): readonly string[] {
  const { type, format, enum: allowed, items } = resolve(schema);
  if (type === 'number' || type === 'integer') {
    return [...NUMBERS, '0.00000000000000000001', '999999999999999.5', '1e15', ...FEW_STRINGS, ...STRUCTURES];
  }
  if (type === 'boolean') return ['0', '1', '"true"', '""', ...WRONG_TYPES];
  if (items) {
    const one = resolve(items).type === 'string' ? (each: number) => `"a${each}"` : () => '{}';
    const many = Array.from({ length: MANY }, (_, index) => one(index));
    return [...STRUCTURES, `[${many.join(',')}]`, `[${many.fill(one(0)).join(',')}]`, ...NUMBERS.slice(0, 5)];
  }
  if (type !== 'string') return [...STRUCTURES, ...FEW_STRINGS];
  if (format?.startsWith('date')) return [...texts(NAUGHTY_DATES), ...FEW_STRINGS, ...WRONG_TYPES];
  if (allowed) return [...FEW_STRINGS, ...WRONG_TYPES];
  return [...texts(NAUGHTY_STRINGS), ...WRONG_TYPES, ...(format === 'uri' ? NAUGHTY_URLS : [])];
}

/** The text of a body with other text at some places, which are created if missing. */
function withValues(body: unknown, values: readonly (readonly [Place['at'], string])[]): string {
  const copy = structuredClone(body) as Record<string | number, unknown>;
  const written = new Map<string, string>();
  for (const [index, [at, value]] of values.entries()) {
    const mark = `\u0001${index}\u0001`;
    let inside = copy;
    for (const [depth, step] of at.slice(0, -1).entries()) {
      const next = inside[step];
      if (typeof next !== 'object' || next === null)
        inside[step] = typeof at[depth + 1] === 'number' ? [] : {};
      inside = inside[step] as typeof inside;
    }
    inside[at.at(-1)!] = mark;
    written.set(toJson(mark), value);
  }
  return JSON.stringify(copy).replaceAll(/"\\u0001\d+\\u0001"/g, (mark) => written.get(mark)!);
}

/** Sends a body. @returns whether it was accepted */
async function send(operation: ContractOperation, request: Request, body: string): Promise<boolean> {
  const what = `${operation.operationId} ${body.slice(0, 300)}`;
  const { status, body: response } = await expectNoFailure(request.send({ body }), what);
  const parsed = JSON.parse(body) as { readonly app_id?: unknown };
  const { app_id } = request.owner.app;
  // Until the signature is verified, the response mentions nothing else.
  if (operation.signature && parsed.app_id !== app_id) {
    expect(status, what).toBeGreaterThanOrEqual(400);
  } else if (status === 413) {
    expect(body.length, what).toBeGreaterThan(100_000);
  } else if (hasRefusedText(parsed)) {
    expect(status, `a value that cannot be stored exactly: ${what}`).toBe(400);
  } else if (!isValid(operation, parsed)) {
    expect({ status, code: response['code'] }, what).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
  }
  return status < 300;
}

/** Whether a body is valid by the contract, without coercion. */
function isValid({ requestBody }: ContractOperation, body: unknown): boolean {
  return ajv.getSchema(`contract${requestBody!.schema.$ref}`)!(body) as boolean;
}

async function sendAll(
  operation: ContractOperation,
  request: Request,
  bodies: readonly string[],
): Promise<void> {
  for (let start = 0; start < bodies.length; start += AT_ONCE) {
    const some = bodies.slice(start, start + AT_ONCE);
    await Promise.all(some.map((body) => send(operation, request, body)));
  }
}

const share = spread();
const withBody = operations.filter(takesJson);

describe.each(withBody)('$operationId', (operation) => {
  const places = placesOf(operation.requestBody!.schema);
  const hostile = places.map(
    (place) => [place.at, share(JSON.stringify(resolve(place.schema)), hostileAt(place))] as const,
  );
  // A separate owner, because some operations change or end what others need.
  let request: Promise<Request>;
  beforeAll(() => {
    request = requestOf(service, operation);
    return request;
  });

  test('accepts its example', async () => {
    const { send: sendIt } = await request;
    const { status, body } = await sendIt();
    expect(status, JSON.stringify(body)).toBeLessThan(300);
  });

  test('hostile values in every member: never a 5xx, and 400 for what the contract forbids', async () => {
    const made = await request;
    for (const [at, values] of hostile) {
      const bodies = values.map((value) => withValues(made.body, [[at, value]]));
      await sendAll(operation, made, bodies);
    }
  });

  test('generated values in several members', async () => {
    // The members of a signed token are not in the contract.
    if (places.length === 0) return;
    const made = await request;
    const changes = fc.array(fc.tuple(fc.nat(), fc.oneof(hostileJson, fc.nat())), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(changes, async (chosen) => {
        const values = chosen.map(([which, value]) => {
          const place = places[which % places.length]!;
          const own = hostileAt(place);
          return [place.at, typeof value === 'number' ? own[value % own.length]! : value] as const;
        });
        // A place gets one value, and none inside another value.
        const apart = values.filter(
          ([at], index) => !values.slice(0, index).some(([other]) => overlap(at, other)),
        );
        await send(operation, made, withValues(made.body, apart));
      }),
      { seed: SEED, numRuns: GENERATED, endOnFailure: true },
    );
  });
});

function overlap(one: Place['at'], other: Place['at']): boolean {
  const shared = Math.min(one.length, other.length);
  return one.slice(0, shared).join('/') === other.slice(0, shared).join('/');
}
