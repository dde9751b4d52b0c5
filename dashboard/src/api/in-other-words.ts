import { asProblem, Problem } from './problem.ts';

type Words = Partial<Record<'title' | 'detail' | 'hint', string>>;

/**
 * A problem as a page explains it. The service's words for a code suit every caller, and may name what the page does
 * not have.
 * @param words by the code of the problem
 */
export function inOtherWords(error: unknown, words: Readonly<Record<string, Words>>): Problem {
  const problem = asProblem(error);
  return new Problem({ ...problem.details, ...words[problem.code ?? ''] }, { cause: error });
}
