import { readFileSync } from 'node:fs';

const PARTS = [
  '../../dashboard/src/design/tokens.css',
  '../../dashboard/src/design/site.css',
  '../../src/http/pages/style.css',
];

/** The style of the service's own pages: the values of the dashboard, their bar, and what the pages are made of. */
export function pageStyle(): string {
  const css = PARTS.map((part) => readFileSync(new URL(part, import.meta.url), 'utf8')).join('\n');
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};]) ?/g, '$1')
    .replaceAll(';}', '}')
    .trim();
}
