import type { ContractOperation } from '../../contract/operations.ts';
import { repeated } from './worst-bodies.ts';

/** The space for one value in the 16 KiB of the head of a request. */
const LONGEST = 15_000;

/** A change of a valid request. */
export interface WorstHead {
  readonly name: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the last segment of the path. */
  readonly segment?: string;
}

const PIECES = ['a', ' ', '.', ',', '=', ';', '"a",', '%41', '[', '/', 'a=a,', 'a/a;q=0.1,'];
const SCHEMES = ['Bearer', 'Basic', 'Payment', 'DPoP'];
const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['accept', ['a/a,', 'a/a;q=0.1,', ';', '*/*;a="', ' ', 'a/a;a=a;']],
  ['content-type', ['a', ' ', ';a=a', ';a="', 'application/json;']],
  ['idempotency-key', ['a', ' ']],
  ['if-none-match', ['"a",', '"', 'W/', ' ']],
  ['if-match', ['"a",']],
  ['range', ['0-0,', '9', ' ', 'bytes=']],
  ['cookie', ['a=a;', '=', ' ', 'a']],
  ['x-forwarded-for', ['1.1.1.1,', ',', ' ', 'a']],
  ['forwarded', ['for=a,', ';', '"']],
  ['x-signature', ['a']],
  ['x-timestamp', ['1']],
  ['origin', ['a.', '/']],
  ['host', ['a.', ':']],
  ['content-digest', ['sha-256=:AA==:,', 'a', '=']],
  ['mcp-protocol-version', ['1']],
];

/** Long queries, paths and headers for an operation. */
export function worstHeads({ parameters, path }: ContractOperation): readonly WorstHead[] {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const long = (piece: string) =>
    encodeURIComponent(piece).repeat(Math.floor(LONGEST / encodeURIComponent(piece).length));
  return [
    {
      name: 'as many parameters as fit',
      query: `?${Array.from({ length: 2_500 }, (_, i) => `${i.toString(36)}=`).join('&')}`,
    },
    { name: 'one repeated parameter', query: `?${repeated('a&', LONGEST)}` },
    { name: 'a query of percent signs', query: `?${repeated('%', LONGEST)}` },
    ...inQuery.flatMap((name) => [
      { name: `repeated ${name}`, query: `?${repeated(`${name}=a&`, LONGEST)}` },
      ...['a', '.', ' ', '\ufdfa', '"', '-'].map((piece) => ({
        name: `${name} of repeated ${JSON.stringify(piece)}`,
        query: `?${name}=${long(piece)}`,
      })),
    ]),
    ...(path.endsWith('}') ? ['a', '%41', '.', '%EF%B7%BA', '%', ';'] : []).map((piece) => ({
      name: `a path that ends with repeated ${piece}`,
      segment: repeated(piece, LONGEST),
    })),
    { name: 'a long token', headers: { authorization: `Bearer ${repeated('a', LONGEST)}` } },
    { name: 'a long payment', headers: { authorization: `Payment T${' '.repeat(LONGEST)}M` } },
    { name: 'a long token of dots', headers: { authorization: `Bearer ${repeated('.', LONGEST)}` } },
  ];
}

/** Headers that are parsed before the operation matters. */
export function worstHeaders(): readonly WorstHead[] {
  const named = [
    ...HEADERS,
    ...SCHEMES.map(
      (scheme) => ['authorization', PIECES.map((piece) => `${scheme} ${repeated(piece, LONGEST)}M`)] as const,
    ),
    [
      'authorization',
      [`Bearer${' '.repeat(LONGEST)}`, `${' '.repeat(LONGEST)}Bearer`, 'a'.repeat(LONGEST)],
    ] as const,
  ];
  return named.flatMap(([header, values]) =>
    values.map((value) => {
      const sent = value.length > 1_000 ? value : repeated(value, LONGEST);
      return { name: `${header}: ${sent.slice(0, 24)}…`, headers: { [header]: sent } };
    }),
  );
}
