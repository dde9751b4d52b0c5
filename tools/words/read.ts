import ts from 'typescript';

/** Stands for a character of code: neither a space nor a part of a word, so that no phrase reaches across it. */
const CODE = '\0';

/**
 * The prose of a file, each character at its place in the file. Code, URLs and quoted code become NUL. Characters that mark
 * comments, headings and escapes become spaces, so that a phrase is found across lines.
 */
export function proseOf(file: string, text: string): string {
  const prose = /\.[cm]?[jt]s$/.test(file) ? proseOfScript(file, text) : text;
  return prose
    .replace(/https?:\/\/[^\s)>'"`]+|`[^`\n]*`/g, (match) => CODE.repeat(match.length))
    .replace(/^[ \t]*(?:\/\/\/?|#+|>|\*(?!\/))/gm, (match) => ' '.repeat(match.length));
}

/** The comments and strings of a script. */
function proseOfScript(file: string, text: string): string {
  const prose = text.replace(/\S/g, CODE).split('');
  const code = text.split('');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);

  function show(start: number, shown: string): void {
    for (const [index, character] of shown.split('').entries()) prose[start + index] = character;
  }

  function visit(node: ts.Node): void {
    if (ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isTemplateHead(node)) {
      const start = node.getStart(tree);
      if (!ts.isRegularExpressionLiteral(node)) {
        show(start + 1, text.slice(start + 1, node.end - 1).replace(/\\[^]/g, '  '));
      }
      code.fill(CODE, start, node.end);
    }
    ts.forEachChild(node, visit);
  }

  visit(tree);
  // Without the literals every `//` begins a comment.
  for (const { 0: comment, index } of code.join('').matchAll(/\/\/.*|\/\*[^]*?\*\//g)) show(index, comment);
  return prose.join('');
}

/** A word of an identifier: `Name` at 4 in `userName`. */
export interface NamePart {
  readonly text: string;
  readonly at: number;
}

/** The words of all identifiers of a text. @param prose of the text, whose plain words are no identifiers */
export function namePartsOf(text: string, prose = CODE.repeat(text.length)): NamePart[] {
  const parts = [...text.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)];
  return parts
    .map(({ 0: part, index }) => ({ text: part, at: index }))
    .filter(({ text: part, at }) => prose[at] === CODE || /\w/.test(around(text, at, at + part.length)));
}

function around(text: string, start: number, end: number): string {
  return text.slice(Math.max(0, start - 1), start) + text.slice(end, end + 1);
}
