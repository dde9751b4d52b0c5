import { readFileSync } from 'node:fs';

/** A guide of the repository. */
export interface Guide {
  /** Its name in the address of its page. */
  readonly name: string;
  /** Its file below `docs/`. */
  readonly file: string;
  readonly title: string;
  /** What it is about, in one line of Markdown. */
  readonly summary: string;
  readonly text: string;
}

const FOLDER = new URL('../../../../docs/', import.meta.url);

const read = (file: string) => readFileSync(new URL(file, FOLDER), 'utf8');

/** Reads the guides that the index of the documentation lists, in its order. */
export function readGuides(): Guide[] {
  const [, list = ''] = /^## Guides$(.*?)^## /ms.exec(read('README.md')) ?? [];
  return [...list.matchAll(/^- \[(.+?)\]\((.+?\.md)\): (.+)$/gm)].map(([, title, file, summary]) => ({
    name: nameOf(file!),
    file: file!,
    title: title!,
    summary: summary!,
    text: read(file!),
  }));
}

/** `guides/money.md` is `money`, and `clients/README.md` is `clients`. */
function nameOf(file: string): string {
  return file.replace('/README.md', '').replace(/^guides\/|\.md$/g, '');
}
