import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** A generated file: its path below the output folder and its content. */
export interface GeneratedFile {
  file: string;
  content: string;
}

/** How the folder differs from what it should hold: paths, in order. */
export interface Difference {
  changed: string[];
  stale: string[];
}

function filesBelow(folder: string): Map<string, string> {
  let entries;
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(folder.length + 1).replaceAll(sep, '/'), readFileSync(path, 'utf8')]),
  );
}

/** Compares the folder with what was generated. */
export function difference(folder: string, generated: readonly GeneratedFile[]): Difference {
  const present = filesBelow(folder);
  const wanted = new Set(generated.map(({ file }) => file));
  return {
    changed: generated.filter(({ file, content }) => present.get(file) !== content).map(({ file }) => file),
    stale: [...present.keys()].filter((file) => !wanted.has(file)),
  };
}

/** Makes the folder hold exactly what was generated. */
export function write(folder: string, generated: readonly GeneratedFile[]): Difference {
  const found = difference(folder, generated);
  for (const { file, content } of generated) {
    if (!found.changed.includes(file)) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  for (const file of found.stale) rmSync(join(folder, file));
  return found;
}
