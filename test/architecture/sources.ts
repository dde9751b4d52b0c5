import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

const root = new URL('../../', import.meta.url);

/** A file of the product. */
export interface Source {
  /** Relative to the root of the repository, such as `src/licensing/users/users.ts`. */
  readonly file: string;
  /** Without comments. */
  readonly code: string;
  /** Its imports: files relative to the root of the repository, packages by name. */
  readonly imports: readonly string[];
}

function read(file: string): Source {
  const text = readFileSync(new URL(file, root), 'utf8');
  const { importedFiles } = ts.preProcessFile(text, true, true);
  const imports = importedFiles.map(({ fileName }) =>
    fileName.startsWith('.') ? posix.join(posix.dirname(file), fileName) : fileName,
  );
  return { file, code: withoutComments(text), imports };
}

/** Replaces comments with spaces. A scanner recognizes strings, so they stay. */
function withoutComments(text: string): string {
  const file = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true);
  const comments = new Set<string>();
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      comments.add(`${pos} ${end}`);
    }
    for (const { pos, end } of ts.getTrailingCommentRanges(text, node.getEnd()) ?? [])
      comments.add(`${pos} ${end}`);
    if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node))
      node.getChildren(file).forEach(visit);
  };
  visit(file);
  let code = text;
  for (const range of comments) {
    const [pos, end] = range.split(' ').map(Number) as [number, number];
    code = code.slice(0, pos) + ' '.repeat(end - pos) + code.slice(end);
  }
  return code;
}

/** Every file of `src` and `handlers`. */
export const sources: readonly Source[] = globSync(['src/**/*.ts', 'handlers/**/*.ts'], { cwd: root })
  .sort()
  .map(read);

/** Files whose code matches a pattern. */
export function filesWith(pattern: RegExp): string[] {
  return sources.filter(({ code }) => pattern.test(code)).map(({ file }) => file);
}
