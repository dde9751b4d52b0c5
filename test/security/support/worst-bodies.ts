import { resolve, shapeOf, type ContractOperation, type ContractSchema } from '../../contract/operations.ts';

/** Repeated in texts. Each has been the worst case of some pattern or normalization. */
const PIECES = ['a', '@.', ' ', '.', '-', '"', '\\', '%', '\u0301', '\ufdfa', '\u{1f600}', 'a.'];
/** Those that are tried in each member alone. */
const SHORT_PIECES = ['a', '@.', ' ', '.', '\u0301', '\ufdfa'];
/** The length of texts without a limit in the contract. */
const NO_LIMIT = 16_384;

type Members = Readonly<Record<string, unknown>>;

/** The worst body that an operation accepts. */
export interface WorstBody {
  readonly name: string;
  readonly text: string;
}

/** A piece repeated to a length in UTF-16 units. */
export const repeated = (piece: string, length: number) =>
  piece.repeat(Math.max(1, Math.floor(length / piece.length)));

/** JSON of every shape, up to a length. */
function shapes(length: number): readonly WorstBody[] {
  const list = (item: string) => `[${repeated(`${item},`, length - item.length - 8)}${item}]`;
  const nested = (open: string, close: string) => {
    const levels = Math.floor((length - 8) / (open.length + close.length));
    return `${open.repeat(levels)}0${close.repeat(levels)}`;
  };
  const members = (name: (index: number) => string, size: number) =>
    `{${Array.from({ length: Math.floor(length / size) }, (_, index) => `"${name(index)}":0`).join(',')}}`;
  const text = (escape: string) => `"${repeated(escape, length - 8)}"`;
  return [
    { name: 'nested lists', text: nested('[', ']') },
    { name: 'unclosed lists', text: '['.repeat(length - 8) },
    { name: 'nested objects', text: nested('{"":', '}') },
    { name: 'nested lists of objects', text: nested('[{"":', '}]') },
    { name: 'members', text: members((index) => index.toString(36), 9) },
    { name: 'numeric members', text: members((index) => `${index * 7919}`, 14) },
    { name: 'a repeated member', text: members(() => 'a', 6) },
    ...['{}', '[]', '""', '0', 'null', '{"a":0}', '1e400', '"\\u0000"'].map((item) => ({
      name: `a list of ${item}`,
      text: list(item),
    })),
    ...['\\"', '\\\\', '\\u0000', '\\ud83d\\ude00', '\\u0301'].map((escape) => ({
      name: `a text of ${escape}`,
      text: text(escape),
    })),
    { name: 'blanks', text: `${' '.repeat(length - 8)}{}` },
  ];
}

/** Bodies of every shape, which are parsed before the operation matters. @param limit in bytes */
export function worstShapes(limit: number): readonly WorstBody[] {
  return shapes(limit).map(({ name, text }) => ({ name: `the body is ${name}`, text }));
}

/** Bodies of an operation that takes JSON. @param example a valid one @param limit in bytes */
export function worstBodies(
  { requestBody }: ContractOperation,
  example: Members,
  limit: number,
): readonly WorstBody[] {
  const { properties } = shapeOf(requestBody!.schema);
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, resolve(schema) as Field] as const,
  );
  const texts = fields.filter(([, { type }]) => type === 'string').map(([name]) => name);
  const lists = fields.filter(([, { type }]) => type === 'array');
  const rest = JSON.stringify(example).slice(1, -1);
  const withMember = (member: string, value: string) =>
    rest === '' ? `{"${member}":${value}}` : `{${rest},"${member}":${value}}`;
  const space = limit - Buffer.byteLength(rest) - 200;
  const filled = (piece: string) => {
    const length = Math.floor(
      space / Math.max(1, texts.length) / Buffer.byteLength(JSON.stringify(piece).slice(1, -1)),
    );
    return { ...example, ...Object.fromEntries(texts.map((name) => [name, piece.repeat(length)])) };
  };
  const set = (name: string, value: unknown) => JSON.stringify({ ...example, [name]: value });
  return [
    ...shapes(space).map(({ name, text }) => ({
      name: `an additional member: ${name}`,
      text: withMember('x', text),
    })),
    ...lists.flatMap(([member]) =>
      shapes(space)
        .filter(({ name }) => /list|members/.test(name))
        .map(({ name, text }) => {
          const { [member]: _replaced, ...others } = example;
          const before = JSON.stringify(others).slice(1, -1);
          return { name: `${member} is ${name}`, text: `{${before}${before && ','}"${member}":${text}}` };
        }),
    ),
    ...lists.flatMap(([member, { items = {}, maxItems = 1000 }]) => {
      const item = resolve(items) as Field;
      const value = (index: number) =>
        item.type === 'string'
          ? (item.enum?.[0] ?? `${index}`.padStart(item.maxLength ?? 64, 'a'))
          : ((example[member] as readonly unknown[] | undefined)?.[0] ?? {});
      const list = Array.from({ length: maxItems }, (_, index) => value(index));
      return [{ name: `${member} has the most items`, text: set(member, list) }];
    }),
    ...PIECES.map((piece) => ({
      name: `all texts repeat ${JSON.stringify(piece)}`,
      text: JSON.stringify(filled(piece)),
    })),
    ...texts.flatMap((member) => {
      const { maxLength = NO_LIMIT } = properties[member] ? (resolve(properties[member]) as Field) : {};
      return SHORT_PIECES.map((piece) => ({
        name: `${member} repeats ${JSON.stringify(piece)}`,
        text: set(member, repeated(piece, Math.min(maxLength, NO_LIMIT))),
      }));
    }),
  ];
}

type Field = ContractSchema & { readonly maxLength?: number; readonly maxItems?: number };
