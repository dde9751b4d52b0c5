import { beforeAll, describe, expect, test } from 'vitest';
import {
  operations,
  resolve,
  type ContractOperation,
  type ContractSchema,
  type Parameter,
} from '../../contract/operations.ts';
import { newOwner, type Owner } from '../../contract/parameters.ts';
import { startTestService } from '../../support/service.ts';
import { NAUGHTY_DATES, NAUGHTY_STRINGS, spread } from '../support/hostile.ts';
import { expectNoFailure, requestOf, type Request } from '../support/requests.ts';

const service = await startTestService();
const { api } = service;

/** Concurrent requests. */
const AT_ONCE = 4;

// Lone surrogates cannot be percent-encoded: their bytes are not valid UTF-8.
const encoded = (texts: readonly string[]) =>
  texts.filter((text) => text.isWellFormed()).map((text) => encodeURIComponent(text));

const BROKEN_ENCODINGS = ['%FF', '%C0%AF', '%ED%A0%80', '%', '%ZZ', '%E0%A4%A', 'a%', '%00', 'a%00b'];
/** Path segments that no HTTP client normalizes. */
const SEGMENTS = [
  ...encoded(NAUGHTY_STRINGS.filter((text) => text !== '')),
  ...BROKEN_ENCODINGS,
  '..%2F..',
  '%2F',
  '..%5C..',
  ';a=b',
  '*',
  '~',
  'con',
  'NUL.txt',
  'x'.repeat(64),
  'x'.repeat(128),
];

const NUMBERS = ['0', '-0', '1e400', '2147483648', '9223372036854775808', 'NaN', '07', '0x10'];
const CURSORS = [
  '!',
  'bGlj',
  ...['lic', 'usr', 'rsl', 'whk', 'evt', 'app', 'aud', 'dlv', 'tok', 'led'].flatMap((prefix) =>
    [`${prefix}_${'0'.repeat(26)}`, `${prefix}_${'z'.repeat(26)}`, `${prefix}_\u0000`].map((id) =>
      Buffer.from(id).toString('base64url'),
    ),
  ),
  // Other lists are ordered by name.
  ...['motd', '', '\u0000', '\ud83d\udca3', '{"name":1}', '[]', 'null', '["a","b"]'].map((name) =>
    Buffer.from(name).toString('base64url'),
  ),
  Buffer.from([0xff, 0xfe]).toString('base64url'),
  'A'.repeat(256),
];
const SOME = encoded(['', ' ', '\u0000', '\u202e', "' OR 1=1 --", '%', '\\', '__proto__', 'a'.repeat(300)]);
const ADDRESSES = [
  '::',
  '::ffff:1.2.3.4',
  '1.2.3',
  '01.2.3.4',
  '1.2.3.4/8',
  'fe80::1%25eth0',
  '[::1]',
  '0x7f.1',
];

type Described = Parameter & { readonly schema: ContractSchema };

/** Hostile values of a query parameter, percent-encoded. */
function hostileValues({ name, schema: given }: Described): readonly string[] {
  const schema = resolve(given);
  if (schema.type === 'integer') return [...NUMBERS, ...SOME];
  if (schema.format?.startsWith('date')) {
    const dates = NAUGHTY_DATES.map((date) => (schema.format === 'date' ? date.split(/T/i)[0]! : date));
    return [...encoded([...new Set(dates)]), ...BROKEN_ENCODINGS, ...SOME];
  }
  if (name === 'cursor') return [...CURSORS, ...SOME, ...BROKEN_ENCODINGS];
  if (name === 'address') return [...ADDRESSES, ...SOME];
  if (schema.enum) return [...SOME, '%00'];
  return [...encoded(NAUGHTY_STRINGS), ...BROKEN_ENCODINGS];
}

const OF_HEADERS: Readonly<Record<string, readonly string[]>> = {
  range: [
    'bytes=',
    'bytes=-',
    'bytes=-0',
    'bytes=0-18446744073709551616',
    'bytes=9223372036854775808-',
    'bytes=-9223372036854775808',
    'bytes=1-0',
    'bytes=0-0,0-0',
    `bytes=${'0-0,'.repeat(1_000)}0-0`,
    'lines=1-2',
    'bytes=1e1-',
    'bytes=NaN-NaN',
    'bytes = 0 - 1',
  ],
  'if-none-match': ['*', '"', 'W/"', '"a', `${'"a",'.repeat(1_000)}"b"`, 'W/"a", *'],
  'if-range': ['"', 'W/"a"', 'Thu, 01 Jan 0000 00:00:00 GMT', 'Fri, 31 Dec 99999 23:59:59 GMT'],
  'last-event-id': [`evt_${'0'.repeat(26)}`, `evt_${'z'.repeat(26)}`, 'null', '*', '0'],
  'x-checksum-sha256': ['0'.repeat(64), 'g'.repeat(64), '0'.repeat(63)],
  'content-digest': [
    'sha-256=:AA==:',
    'sha-256=:',
    'sha-256=::',
    'sha-256=:!:',
    `sha-256=:${'A'.repeat(44)}:`,
    `md5=:${'A'.repeat(24)}:`,
    'sha-256=:AA==:, sha-256=:AA==:',
    'sha-256=1',
    '=',
    '(',
    ',,,',
  ],
};
const ANY_HEADER = [
  '',
  ' ',
  '\t',
  '"',
  '\\',
  ',',
  ';',
  '=',
  '\u00ff\u0080',
  'a'.repeat(300),
  '__proto__',
  '-1',
];

/** Sends requests and checks their statuses. */
async function sendAll(
  requests: readonly (() => ReturnType<Request['send']>)[],
  what: (index: number) => string,
  check: (status: number, what: string) => void = () => {},
): Promise<void> {
  for (let start = 0; start < requests.length; start += AT_ONCE) {
    const some = requests.slice(start, start + AT_ONCE);
    await Promise.all(
      some.map(async (send, index) => {
        const label = what(start + index);
        check((await expectNoFailure(send(), label)).status, label);
      }),
    );
  }
}

const isIn = (place: string) => (parameter: Parameter) => parameter.in === place;
const of = ({ parameters }: ContractOperation, place: string) =>
  parameters.filter(isIn(place)) as Described[];

/** Parameters with a name that the caller chooses: an upload may create it. */
const CHOSEN = ['name', 'file_name'];

// Operations that only read share one owner. Others may change or end what the rest needs.
let shared: Promise<Owner> | undefined;
const ownerFor = ({ method, tokenKind }: ContractOperation) =>
  method === 'GET' && tokenKind === 'developer' ? (shared ??= newOwner(api)) : newOwner(api);

const share = spread();
const withParameters = operations.filter(({ parameters }) => parameters.length > 0);

describe.each(withParameters)('$operationId', (operation) => {
  const segments = of(operation, 'path').map(
    (each) => [each.name, share(`path ${each.name}`, SEGMENTS)] as const,
  );
  const values = of(operation, 'query').map((each) => {
    // Each list has its own kind of cursor.
    const rule = each.name === 'cursor' ? operation.operationId : JSON.stringify(resolve(each.schema));
    return [each.name, share(`${each.name} ${rule}`, hostileValues(each))] as const;
  });
  const headers = of(operation, 'header').map(({ name }) => {
    return [name, share(name, [...(OF_HEADERS[name.toLowerCase()] ?? []), ...ANY_HEADER])] as const;
  });
  let request: Request;
  beforeAll(async () => {
    request = await requestOf(service, operation, await ownerFor(operation));
  });

  if (segments.length > 0)
    test('any path parameter: 400 or 404, never a failure', async () => {
      for (const [name, some] of segments) {
        const place = operation.path.split('/').indexOf(`{${name}}`);
        const paths = some.map((segment) => request.path.split('/').with(place, segment).join('/'));
        await sendAll(
          paths.map((path) => () => request.send({ path })),
          (index) => `${operation.operationId} ${paths[index]}`,
          (status, what) => {
            if (!CHOSEN.includes(name) || status >= 300) expect([400, 404, 413], what).toContain(status);
          },
        );
      }
    });

  if (values.length > 0)
    test('any query parameter: never a failure', async () => {
      for (const [name, some] of values) {
        const others = new URLSearchParams(request.query);
        others.delete(name);
        const rest = others.size === 0 ? '' : `&${others}`;
        const queries = [...some.map((value) => `?${name}=${value}`), `?${name}=a&${name}=a`, `?${name}[]=a`];
        await sendAll(
          queries.map((query) => () => request.send({ query: query + rest })),
          (index) => `${operation.operationId} ${queries[index]!.slice(0, 200)}`,
        );
      }
    });

  if (headers.length > 0)
    test('any header parameter: never a failure', async () => {
      for (const [name, some] of headers) {
        await sendAll(
          some.map((value) => () => request.send({ headers: { [name]: value } })),
          (index) => `${operation.operationId} ${name}: ${some[index]!.slice(0, 200)}`,
        );
      }
    });
});
