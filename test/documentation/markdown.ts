import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, with a trailing slash. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every Markdown file in the repository that is not generated. */
export const markdownFiles = (): string[] =>
  globSync('**/*.md', { cwd: ROOT, exclude: ['**/node_modules', 'data', 'generated'] }).sort();

/** The text of a file of the repository. */
export const readDocument = (file: string): string => readFileSync(ROOT + file, 'utf8');

/** A fenced block of code. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  /** The line of its first fence, counted from 1. */
  readonly line: number;
  /** Whether only blank lines separate this block from the one before it. */
  readonly follows: boolean;
}

/** The fenced blocks of a document in order. */
export function codeBlocks(document: string): CodeBlock[] {
  let end = -1;
  return [...document.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map((match) => {
    const follows = end >= 0 && document.slice(end, match.index).trim() === '';
    end = match.index + match[0].length;
    const line = document.slice(0, match.index).split('\n').length;
    return { language: match[1]!, text: match[2]!, line, follows };
  });
}

/** The document without code blocks and code spans, which contain no links. */
export const withoutCode = (document: string): string =>
  document.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '``');

/** The anchors of a document's headings on GitHub. */
export function anchors(document: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = document.replace(/^```.*?^```$/gms, '').matchAll(/^#{1,6} +(.+)$/gm);
  return new Set(
    [...headings].map(([, heading]) => {
      const anchor = heading!
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-');
      const times = seen.get(anchor) ?? 0;
      seen.set(anchor, times + 1);
      return times === 0 ? anchor : `${anchor}-${times}`;
    }),
  );
}
