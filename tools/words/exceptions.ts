/** A place where a word of the list is right. */
export interface Exception {
  /** A file, or a folder with a slash at its end. */
  readonly path: string;
  /** The word with the text around it, as it is in the file. */
  readonly text: string;
  readonly why: string;
}

/** Exact: each is used. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    path: 'src/',
    text: 'payment_notices',
    why: 'a table of released versions, and a part of the name of a metric',
  },
  { path: 'src/', text: 'test_notices', why: 'a table of released versions' },
  { path: 'src/', text: 'notice_id', why: 'a column of released versions' },
  { path: 'test/', text: 'payment_notices', why: 'a table of released versions' },
  { path: 'test/', text: 'test_notices', why: 'a table of released versions' },
  { path: 'test/', text: 'notice_id', why: 'a column of released versions' },
  { path: 'src/', text: 'change_asked_at', why: 'a column of released versions' },
  { path: 'test/', text: 'change_asked_at', why: 'a column of released versions' },
  { path: 'src/', text: 'answer_sealed', why: 'a column of released versions' },
  { path: 'test/', text: 'answer_sealed', why: 'a column of released versions' },
  { path: 'test/mcp/', text: 'notifications/cancelled', why: 'a method of MCP' },
  { path: 'test/tools/', text: 'SUPPRESS_UPDATE_NOTICE', why: 'a variable of Redocly' },
  { path: 'tools/expressions/verdict.ts', text: 'analyse', why: 'a function of the library scslre' },
  { path: 'docs/clients/', text: 'answer', why: 'a public member of an error of the clients' },
  { path: 'docs/clients/csharp/', text: 'Answer', why: 'the same in C#' },
  { path: 'docs/clients/', text: 'UNEXPECTED_ANSWER', why: 'a public code of the clients' },
  { path: 'test/clients/', text: 'UNEXPECTED_ANSWER', why: 'the same' },
  { path: 'docs/clients/python/', text: 'is None', why: 'Python' },
  { path: 'docs/operating.md', text: 'runs as `nobody`', why: 'an account of the operating system' },
  { path: 'docs/operating.md', text: 'payment_notices', why: 'a table, and a part of the name of a metric' },
  { path: 'src/migrations/', text: 'raise notice', why: 'a statement of PL/pgSQL' },
  { path: 'src/platform/database/', text: '`nobody`', why: 'an account of the operating system' },
  { path: 'src/platform/database/', text: "'nobody'", why: 'the same' },
  { path: 'test/platform/database/', text: '`nobody`', why: 'the same' },
  { path: 'test/platform/database/', text: "'nobody'", why: 'the same' },
  { path: 'test/platform/database/', text: 'nobody:x:65534', why: 'the same' },
];
