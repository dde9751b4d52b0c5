import { STATUS_CODES } from 'node:http';
import { catalog, errorSlug, type CatalogEntry, type ErrorCode } from '../../foundation/errors/catalog.ts';
import { escape, page, table } from './html.ts';

/** The page behind `type` and `docs_url` of an error. */
export function errorPage(code: ErrorCode, root: string): string {
  const entry: CatalogEntry = catalog[code];
  const statuses = entry.statuses.map((status) => `${status} ${STATUS_CODES[status]}`).join(', ');
  const facts = [
    ['Code', `<code>${code}</code>`],
    ['HTTP status', escape(statuses)],
    ['What happened', escape(entry.detail)],
    ['What to do', escape(entry.hint)],
  ].map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return page(
    entry.title,
    `<p class="crumbs"><a href="${root}/errors">Errors</a></p>
    <h1>${escape(entry.title)}</h1><dl class="facts-list">${facts.join('')}</dl>`,
    { root, current: 'errors' },
  );
}

/** All errors in one table. */
export function errorIndexPage(codes: readonly ErrorCode[], root: string): string {
  return page(
    'Errors',
    `<h1>Errors</h1><p>Every error has a code. Its page says what happened and what to do.</p>
    ${errorTable(codes, root)}`,
    { root, current: 'errors' },
  );
}

/** Errors with their meaning, each with a link to its page. */
export function errorTable(codes: readonly ErrorCode[], root: string): string {
  const rows = codes.map((code) => {
    const { statuses, detail }: CatalogEntry = catalog[code];
    const link = `<a href="${root}/errors/${errorSlug(code)}"><code>${code}</code></a>`;
    return `<tr><td>${statuses.join(', ')}</td><td>${link}</td><td>${escape(detail)}</td></tr>`;
  });
  return table(['Status', 'Code', 'Meaning'], rows, 'Errors');
}

/** For people at an address that has no page. Programs get a problem. */
export function notFoundPage(root: string): string {
  return page(
    'Page not found',
    `<h1>Page not found</h1><p>This address has no page. Check it, or start again from the
    <a href="${root}/">front page</a>.</p>`,
    { root },
  );
}
