import { expect, test } from 'vitest';
import { sources } from './sources.ts';

const files = new Set(sources.map(({ file }) => file));
const importsOf = new Map(
  sources.map(({ file, imports }) => [file, imports.filter((imported) => files.has(imported))]),
);

/** The shortest cycle of imports from a file to itself, including type imports. */
function circleOf(start: string): readonly string[] | undefined {
  const paths: string[][] = [[start]];
  const seen = new Set<string>();
  for (const path of paths) {
    for (const imported of importsOf.get(path.at(-1)!)!) {
      if (imported === start) return path;
      if (seen.has(imported)) continue;
      seen.add(imported);
      paths.push([...path, imported]);
    }
  }
  return undefined;
}

/** The same text for every file of a cycle. */
function describe(circle: readonly string[]): string {
  const first = circle.indexOf([...circle].sort()[0]!);
  const turned = [...circle.slice(first), ...circle.slice(0, first)];
  return [...turned, turned[0]].join(' -> ');
}

test('no file imports itself through others, including type imports', () => {
  expect(importsOf.get('src/access/agents/agents.ts')).toContain('src/access/agents/registration.ts');
  const circles = [...importsOf.keys()].map(circleOf).filter((circle) => circle !== undefined);
  expect([...new Set(circles.map(describe))]).toEqual([]);
});
