import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { filesOf, findingsIn } from '../../tools/check-words.ts';
import { EXCEPTIONS } from '../../tools/words/exceptions.ts';
import { WORDS } from '../../tools/words/list.ts';

/** One sample for each pattern, in the order of the list. */
const SAMPLES = [
  'licences',
  'catalogue',
  'behaviour',
  'authorisation',
  'analysed',
  'cancelled',
  'fulfil',
  'defence',
  'misspelt',
  'centre',
  'grey',
  'artefact',
  'programme',
  'cheque',
  'judgement',
  'practised',
  'whilst',
  'for ever',
  'can not',
  'himself',
  'whoever',
  "nobody's",
  "one's own",
  'answered',
  'asks',
  'notices',
  'room',
  'house',
  'stretches',
  'doubt',
  'its turn',
  'mended',
  'told',
  'heard',
  'made out to',
  'bears the name',
  'holds the row',
  'good for',
  'whatever',
  'has not the',
  'has got',
  'any more',
  'is none',
  'is to be',
  'is let',
  'lets it in',
  'be had',
  'is over',
  'is away',
  'broke off',
  'moment to come',
  'of itself',
  'lies',
  'stands',
  'hands over',
  'come by',
  'came of',
  'become of',
  'put right',
  'dealt with',
  'goes on',
  'in vain',
  'for nothing',
  'under way',
  'just now',
  'in the place of',
  'an own',
  'anew',
  'beside',
  'behind the end',
  'given back',
  'from now on',
  'shall',
  'upon',
];

/** Files with a phrase in each kind of place. */
const PLACES: Record<string, (phrase: string) => [file: string, text: string]> = {
  'a comment of a line': (phrase) => ['src/x.ts', `const one = 1; // This ${phrase}.\n`],
  'a docstring': (phrase) => ['src/x.ts', `/** This ${phrase}. */\nconst one = 1;\n`],
  'a comment of several lines': (phrase) => [
    'handlers/x.ts',
    `  /**\n   * This ${phrase.replaceAll(' ', '\n   * ')}.\n   */\nconst one = 1;\n`,
  ],
  'line comments below each other': (phrase) => [
    'bench/x.ts',
    `  // This ${phrase.replaceAll(' ', '\n  // ')}.\nconst one = 1;\n`,
  ],
  'a string': (phrase) => ['src/x.ts', `const text = "This ${phrase}.";\n`],
  'a string after an escape': (phrase) => ['src/x.ts', `const text = "\\n${phrase}.";\n`],
  'a template': (phrase) => ['src/x.ts', `const text = \`\${one} ${phrase}, \${two} ${phrase}.\`;\n`],
  'the title of a test': (phrase) => ['test/x.test.ts', `test("a test ${phrase}.", () => {});\n`],
  Markdown: (phrase) => ['docs/x.md', `# Title\n\n- This ${phrase.replaceAll(' ', '\n  ')}.\n`],
  'the contract': (phrase) => [
    'openapi.yaml',
    `info:\n  description: >-\n    This ${phrase.replaceAll(' ', '\n    ')}.\n`,
  ],
  Python: (phrase) => ['docs/x.py', `# This ${phrase}.\n`],
};

/** Files with a word in each kind of name. */
const NAMES: Record<string, (word: string) => [file: string, text: string]> = {
  'a variable': (word) => ['src/x.ts', `const ${word} = 1;\n`],
  'the beginning of a name': (word) => ['src/x.ts', `const ${word}Id = 1;\n`],
  'the end of a name': (word) => ['src/x.ts', `user${word[0]!.toUpperCase()}${word.slice(1)}();\n`],
  'a constant': (word) => ['src/x.ts', `const MAX_${word.toUpperCase()} = 1;\n`],
  'a column': (word) => ['src/x.ts', `db.raw('select user_${word}_id');\n`],
  'quoted code': (word) => ['docs/x.md', `The field \`${word}_id\`.\n`],
  'a path': (word) => [`src/${word}/x.ts`, ''],
  'a file': (word) => [`src/my-${word}.ts`, ''],
};

test('every pattern of the list has a sample', () => {
  expect(SAMPLES).toHaveLength(WORDS.length);
  for (const [index, { pattern }] of WORDS.entries()) {
    expect(SAMPLES[index]).toMatch(new RegExp(`^(?:${pattern})$`));
  }
});

test.each(Object.entries(PLACES))('finds every word in %s', (_, fileWith) => {
  expect(SAMPLES.filter((phrase) => !findingsIn(...fileWith(phrase))[0]?.message.includes(' -> '))).toEqual(
    [],
  );
  expect(findingsIn(...fileWith('is right'))).toEqual([]);
});

test.each(Object.entries(NAMES))('finds every word as %s', (_, fileWith) => {
  const words = SAMPLES.filter((sample, index) => WORDS[index]!.names && /^\w+$/.test(sample));
  for (const word of words) {
    expect(findingsIn(...fileWith(word))[0]?.message.toLowerCase()).toContain(`${word} `);
  }
  expect(findingsIn(...fileWith('right'))).toEqual([]);
});

test('code, URLs and words that contain a forbidden one are not prose', () => {
  const text = [
    'const his = 1; // See https://example.com/he/whatever for the answerer.',
    'const expression = /he lies/;',
    'const sum = his / 2; // `told` is a name',
    "const sql = 'select his_id'; // The history of this theme is thistle.",
    '',
  ].join('\n');
  expect(findingsIn('src/x.ts', text)).toEqual([]);
});

test('a phrase does not reach across two strings', () => {
  expect(findingsIn('src/x.ts', "call('is', 'over');\n")).toEqual([]);
});

test('a finding names the line, the column and a replacement', () => {
  expect(findingsIn('src/x.ts', "const one = 1;\nconst two = 'a licence';\n")).toEqual([
    { place: '2:16', message: 'licence -> license' },
  ]);
});

test('people are asked, programs are not', () => {
  expect(findingsIn('docs/x.md', 'The page asks the user for a code.\n')).toEqual([]);
  expect(findingsIn('docs/x.md', 'The page asks the server for a code.\n')).toHaveLength(1);
});

describe('lines', () => {
  test('of more than 120 columns are found, with their width', () => {
    const line = `// ${'word '.repeat(24)}`;
    expect(findingsIn('src/x.ts', `${line.slice(0, 120)}\n${line}.\n`)).toEqual([
      { place: '2:121', message: '124 columns -> 120 at most' },
    ]);
  });

  test('may be longer if they contain a URL, a key or a regular expression, and in Markdown', () => {
    expect(findingsIn('src/x.ts', `// ${'word '.repeat(20)}https://example.com/${'a'.repeat(50)}\n`)).toEqual(
      [],
    );
    expect(findingsIn('src/x.ts', `const expression = /${'word '.repeat(30)}/;\n`)).toEqual([]);
    expect(findingsIn('docs/x.md', 'word '.repeat(30))).toEqual([]);
  });
});

test.each(EXCEPTIONS)('the exception "$text" of $path is needed', (exception) => {
  const others = EXCEPTIONS.filter((each) => each !== exception);
  const saved = filesOf([exception.path]).filter((file) => {
    const text = readFileSync(file, 'utf8');
    if (!text.includes(exception.text)) return false;
    return findingsIn(file, text, others).length > findingsIn(file, text).length;
  });
  expect(saved).not.toEqual([]);
});
