import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { atFileEnd, endFile } from '../support/at-file-end.ts';

const root = new URL('../../', import.meta.url);

test('cleans up everything at the end of a file, in reverse order, even after failures', async () => {
  const done: string[] = [];
  const fault = new Error('cannot be cleaned up');
  atFileEnd(() => done.push('database'));
  atFileEnd(async () => Promise.reject(fault));
  atFileEnd(async () => done.push('service'));
  await expect(endFile()).rejects.toMatchObject({ errors: [fault] });
  expect(done).toEqual(['service', 'database']);
  await endFile();
  expect(done).toHaveLength(2);
});

test('shared code of tests does not use afterAll, which is ignored in hooks and tests', () => {
  const shared = globSync('test/**/*.ts', { cwd: root }).filter(
    (file) => !/\.(test|long)\.ts$/.test(file) && file !== 'test/support/setup.ts',
  );
  expect(shared.length).toBeGreaterThan(20);
  const text = (file: string) => readFileSync(new URL(file, root), 'utf8');
  expect(shared.filter((file) => /import .*\bafterAll\b.*vitest/.test(text(file)))).toEqual([]);
});

test('neither do hooks and tests', () => {
  const within = /^(before|after)(All|Each)$|^(test|it)$/;
  /** Of `test.each([…])` it is `test`. */
  const calledName = (node: ts.Expression): string => {
    if (ts.isIdentifier(node)) return node.text;
    return ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)
      ? calledName(node.expression)
      : '';
  };
  const isAfterAll = (node: ts.Node) => ts.isIdentifier(node) && node.text === 'afterAll';
  const found: string[] = [];
  for (const file of globSync('test/**/*.{test,long}.ts', { cwd: root })) {
    const text = readFileSync(new URL(file, root), 'utf8');
    if (!text.includes('afterAll')) continue;
    const visit = (node: ts.Node, forgotten: boolean): void => {
      if (forgotten && isAfterAll(node)) found.push(file);
      const forgetful =
        ts.isCallExpression(node) && within.test(calledName(node.expression)) && node.expression;
      ts.forEachChild(node, (child) =>
        visit(child, forgotten || (forgetful !== false && child !== forgetful)),
      );
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), false);
  }
  expect(found).toEqual([]);
});
