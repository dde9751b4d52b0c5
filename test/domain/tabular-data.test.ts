import { describe, expect, test } from 'vitest';
import {
  readCsv,
  readJsonLines,
  textOf,
  type Line,
  type UnreadableLine,
} from '../../src/foundation/tabular-data/tabular-data.ts';

const COLUMNS = { username: true, email: false, days: false };
const MIB = 1_048_576;

/** The bytes of a body in blocks, as the server buffers it. */
function* blocks(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
}

const readers = {
  CSV: (text: string) => readCsv(textOf(blocks(text)), COLUMNS),
  JSON: (text: string) => readJsonLines(textOf(blocks(text)), COLUMNS, ['days']),
};

/** All lines of a table, and the processor time of reading them in seconds. */
async function read(format: keyof typeof readers, text: string) {
  const lines: (Line<keyof typeof COLUMNS> | UnreadableLine)[] = [];
  const before = process.cpuUsage();
  for await (const line of readers[format](text)) lines.push(line);
  const { user, system } = process.cpuUsage(before);
  return { lines, seconds: (user + system) / 1e6 };
}

describe('hostile tables', () => {
  test('lines of escaped quotes take linear time', async () => {
    const { lines, seconds } = await read(
      'JSON',
      `{"username":"x","email":"${'\\"'.repeat(8_100)}"}\n`.repeat(60),
    );
    expect(lines).toHaveLength(60);
    expect(lines.every((line) => 'cells' in line)).toBe(true);
    expect(seconds).toBeLessThan(2);
  });

  test.each(['JSON', 'CSV'] as const)(
    '32 MiB of blank lines of %s are not read to the end',
    async (format) => {
      const heading = format === 'CSV' ? 'username,email\n' : '';
      const { lines, seconds } = await read(format, heading + '\n'.repeat(32 * MIB - heading.length));
      expect(lines).toEqual([{ line: expect.any(Number), fault: expect.stringMatching(/blank lines/) }]);
      expect(seconds).toBeLessThan(4);
    },
  );

  test.each([
    ['delimiters', ','],
    ['delimiters and line breaks in quotes', `${','.repeat(1_000)}"\n"`],
    ['delimiters and carriage returns in quotes', `${','.repeat(1_000)}"\r"`],
  ])('a record of %s is not read to the end, neither as the heading', async (_what, part) => {
    const text = part.repeat(MIB / part.length);
    const tooLong = { line: expect.any(Number), fault: expect.stringMatching(/its length/) };
    expect((await read('CSV', `username,email\n${text}\na,`)).lines).toEqual([tooLong]);
    expect((await read('CSV', `${text}\na,`)).lines).toEqual([tooLong]);
  });

  test.each([
    ['quotes', '"', 16_384],
    ['line breaks', '\n', 16_384],
    ['quotes', '"', 17_000],
    ['line breaks', '\n', 17_000],
  ])('a cell of %s is read up to the limit of a line: %j %i times', async (_what, character, count) => {
    const cell = character.repeat(count);
    const { lines } = await read('CSV', `username,email\n"${cell.replaceAll('"', '""')}",\na,`);
    if (count > 16_384) expect(lines).toEqual([expect.objectContaining({ fault: expect.any(String) })]);
    else expect(lines.map((line) => 'cells' in line && line.cells.username)).toEqual([cell, 'a']);
  });

  test('lines of white space count as blank', async () => {
    const { lines } = await read('JSON', ' \t\r\n'.repeat(100_001));
    expect(lines).toEqual([{ line: 100_001, fault: expect.stringMatching(/blank lines/) }]);
  });

  test.each(['JSON', 'CSV'] as const)(
    'blank lines between all lines of a large table of %s are accepted',
    async (format) => {
      const rows = Array.from({ length: 50_000 }, (_, row) =>
        format === 'CSV' ? `u${row},` : `{"username":"u${row}"}`,
      );
      const text = format === 'CSV' ? ['username,email', ...rows].join('\n\n') : rows.join('\n\n');
      const { lines } = await read(format, text);
      expect(lines).toHaveLength(50_000);
      expect(lines.at(-1)).toEqual({ line: expect.any(Number), cells: { username: 'u49999' } });
    },
  );
});

describe('JSON lines', () => {
  test.each([
    ['{"username":"a\\"b","email":"c"}', { username: 'a"b', email: 'c' }],
    ['{"username":"a\\\\","email":"\\":"}', { username: 'a\\', email: '":' }],
    ['{"username" \t: "a" , "days" : 30}', { username: 'a', days: '30' }],
    ['{"username":"\\"username\\":"}', { username: '"username":' }],
  ])('%s', async (text, cells) => {
    expect((await read('JSON', text)).lines).toEqual([{ line: 1, cells }]);
  });

  test.each([
    '{"username":"a","username":"a"}',
    '{"username":"a","\\u0075sername":"a"}',
    '{"username":"\\\\","username":"\\":"}',
    '{"username":["a"]}',
    '["username"]',
    '"username"',
    '{"username":"a"',
  ])('%s is refused', async (text) => {
    expect((await read('JSON', text)).lines).toEqual([{ line: 1, fault: expect.any(String) }]);
  });

  test('line numbers include blank lines, however the text is cut', async () => {
    async function* letters() {
      yield* '\n{"username":"a"}\n \n\r\n{"username":"b"}';
    }
    const lines = await Array.fromAsync(readJsonLines(letters(), COLUMNS, []));
    expect(lines).toEqual([
      { line: 2, cells: { username: 'a' } },
      { line: 5, cells: { username: 'b' } },
    ]);
  });
});
