import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXCEPTIONS } from './words/exceptions.ts';
import { WORDS } from './words/list.ts';
import { namePartsOf, proseOf } from './words/read.ts';

/** Not written by hand. */
const UNREAD = ['node_modules', 'generated', 'data', 'coverage'];
/** These list the words themselves. */
const LISTS = ['tools/words/', 'test/tools/words.test.ts'];
const KINDS = '{ts,tsx,js,mjs,md,yaml,yml,html,css,txt,py,cpp,hpp,h,cs,sh}';
const WIDTH = 120;
/** Prose that is one line a paragraph. */
const UNLIMITED = /\.(?:md|txt|html)$/;
/** A URL, a key or a regular expression cannot be wrapped. */
const UNBREAKABLE = /\S{60}/;

const inProse = WORDS.map(({ pattern, hint }) => ({
  expression: new RegExp(`(?<![\\w-])(?:${pattern.replaceAll(' ', '\\s+')})(?!\\w)`, 'gi'),
  hint,
}));
const inNames = WORDS.filter(({ names }) => names).map(({ pattern, hint }) => ({
  expression: new RegExp(`^(?:${pattern})$`, 'i'),
  hint,
}));
const nameHints = new Map<string, string | undefined>();

/** A word that does not belong in a file, or a line that is too long. */
export interface Finding {
  /** `line:column`, both from 1. */
  readonly place: string;
  /** `word -> hint` */
  readonly message: string;
}

/** The words of a file that the project does not use, in its path too, and its lines that are too long. */
export function findingsIn(file: string, text: string, exceptions = EXCEPTIONS): Finding[] {
  const found = new Map<number, string>();
  const allowed = exceptions
    .filter(({ path }) => file.startsWith(path))
    .flatMap((exception) => rangesOf(exception.text, text));

  function add(at: number, word: string, hint: string): void {
    if (found.has(at) || allowed.some(({ start, end }) => start <= at && at < end)) return;
    found.set(at, `${word.replace(/[\s*/#]+/g, ' ')} -> ${hint}`);
  }

  const prose = proseOf(file, text);
  for (const { expression, hint } of inProse) {
    for (const { index, 0: word } of prose.matchAll(expression)) add(index, word, hint);
  }
  for (const { text: word, at } of namePartsOf(text, prose)) {
    const hint = hintForName(word);
    if (hint) add(at, word, hint);
  }
  for (const { at, length } of longLines(file, text, prose)) {
    found.set(at, `${length} columns -> ${WIDTH} at most`);
  }
  const inText = [...found].sort(([a], [b]) => a - b);
  return [...wordsOfPath(file), ...inText.map(([at, message]) => ({ place: placeOf(text, at), message }))];
}

function hintForName(word: string): string | undefined {
  if (!nameHints.has(word)) {
    nameHints.set(word, inNames.find(({ expression }) => expression.test(word))?.hint);
  }
  return nameHints.get(word);
}

function wordsOfPath(file: string): Finding[] {
  return namePartsOf(file).flatMap(({ text }) => {
    const hint = hintForName(text);
    return hint ? [{ place: '1:1', message: `${text} in the path -> ${hint}` }] : [];
  });
}

/** @returns where each line with prose is too wide, and how wide it is */
function longLines(file: string, text: string, prose: string): { at: number; length: number }[] {
  if (UNLIMITED.test(file)) return [];
  return [...text.matchAll(/.+/g)]
    .filter(({ 0: line }) => line.length > WIDTH && !UNBREAKABLE.test(line))
    .filter(({ 0: line, index }) => /[^\s\0]/.test(prose.slice(index, index + line.length)))
    .map(({ 0: line, index }) => ({ at: index + WIDTH, length: line.length }));
}

function rangesOf(part: string, text: string): { start: number; end: number }[] {
  const ranges = [];
  for (let start = text.indexOf(part); start >= 0; start = text.indexOf(part, start + 1)) {
    ranges.push({ start, end: start + part.length });
  }
  return ranges;
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  return `${before.split('\n').length}:${at - before.lastIndexOf('\n')}`;
}

/** The files below the paths that people read. */
export function filesOf(paths: readonly string[]): string[] {
  return paths
    .flatMap((path) =>
      statSync(path).isDirectory() ? globSync(join(path, `**/*.${KINDS}`), { exclude: UNREAD }) : [path],
    )
    .filter((file) => !LISTS.some((list) => file.startsWith(list)))
    .sort();
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { count: { type: 'boolean', default: false } },
  });
  const counts = new Map<string, number>();
  for (const file of filesOf(positionals.length > 0 ? positionals : ['.'])) {
    const findings = findingsIn(file, readFileSync(file, 'utf8'));
    const folder = file.split('/').slice(0, 2).join('/');
    counts.set(folder, (counts.get(folder) ?? 0) + findings.length);
    if (findings.length > 0) process.exitCode = 1;
    if (values.count) continue;
    for (const { place, message } of findings) console.error(`${file}:${place} ${message}`);
  }
  for (const [folder, count] of values.count ? counts : []) {
    console.log(`${String(count).padStart(6)} ${folder}`);
  }
}
