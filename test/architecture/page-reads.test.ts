import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

/** They say how a page is at this moment, without waiting. */
const STATES = new Set([
  ...['count', 'all', 'allTextContents', 'allInnerTexts'],
  ...['isVisible', 'isHidden', 'isDisabled', 'isEnabled', 'isChecked', 'isEditable'],
]);
/** They wait for an element, and not for its text. */
const VALUES = new Set([
  'textContent',
  'innerText',
  'inputValue',
  'getAttribute',
  'evaluate',
  'url',
  'title',
]);

/** Whether a call is an argument of `expect`, which looks once, or of `expect.poll`. */
function expectation(node: ts.Node): 'none' | 'once' | 'poll' {
  for (let at = node.parent; at; at = at.parent) {
    if (!ts.isCallExpression(at)) continue;
    if (at.expression.getText() === 'expect.poll') return 'poll';
    if (at.expression.getText() === 'expect') return 'once';
  }
  return 'none';
}

/** Reads of a page that come too early on a slow machine. */
function earlyReads(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const name = node.expression.name.text;
      const expected = expectation(node);
      const isState = STATES.has(name) && node.arguments.length === 0;
      if ((isState && expected !== 'poll') || (VALUES.has(name) && expected === 'once')) {
        const { line } = source.getLineAndCharacterOfPosition(node.expression.name.getStart());
        found.push(`${file}:${line + 1} ${name}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test.each([
  'if (await dialog.isVisible()) close();',
  'expect(await rows.count()).toBe(1);',
  'const rows = () => page.locator("tr").count();',
  'expect(await row.textContent()).toBe("Standard");',
  'expect(new URL(page.url()).pathname).toBe("/");',
])('%s is found', (code) => expect(earlyReads('x.ts', code)).toHaveLength(1));

test('tests of pages wait for what they expect', () => {
  const files = globSync('test/dashboard/**/*.ts', { cwd: root });
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap((file) => earlyReads(file, readFileSync(new URL(file, root), 'utf8')))).toEqual([]);
});
