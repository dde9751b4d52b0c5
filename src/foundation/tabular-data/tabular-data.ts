export { csvOf, readCsv } from './csv.ts';
export { jsonLinesOf, readJsonLines } from './json-lines.ts';
export { LineFaults, type Line, type UnreadableLine } from './lines.ts';
export { textOf } from './text.ts';
