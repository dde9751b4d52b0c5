import { PAGE_STYLE, PAGE_STYLE_SOURCE } from './page-style.ts';

/** Strict headers: no scripts, no external resources, no framing. */
export const PAGE_HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy':
    `default-src 'none'; style-src ${PAGE_STYLE_SOURCE}; base-uri 'none'; ` +
    `form-action 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Where a page is. */
interface Place {
  /** The path of `{web_url}`. */
  readonly root: string;
  readonly current?: Section;
  /** The classes of its content. */
  readonly kind?: 'prose' | 'prose guide' | 'front';
}

type Section = 'reference' | 'guides' | 'errors';

const MARK = `viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2b59c3"/><path fill="#fff" d="M16 7a5.5
  5.5 0 0 0-2.5 10.4V25h5v-2.5h-2v-2h2v-3.1A5.5 5.5 0 0 0 16 7Zm0 3.6a1.9 1.9 0 1 1 0 3.8 1.9 1.9 0 0 1
  0-3.8Z"/></svg>`;
const LOGO = `<svg aria-hidden="true" ${MARK}`;

/** The mark of Latchkey as a file, which browsers show in tabs. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" ${MARK}`;

/** The name of the service above a form. */
export const BRAND = `<p class="brand">${LOGO}Latchkey</p>`;

/** What is at the top of every page to read. @param end HTML at its end */
export function siteBar(root: string, current?: Section, end = ''): string {
  const link = (path: string, text: string, section?: Section) =>
    `<a href="${escape(root)}${path}"${section && section === current ? ' aria-current="page"' : ''}>${text}</a>`;
  return `<nav class="site" aria-label="Site"><a class="home" href="${escape(root)}/">${LOGO}Latchkey</a>
    <div>${link('/docs', 'API reference', 'reference')} ${link('/guides', 'Guides', 'guides')}
    ${link('/errors', 'Errors', 'errors')} ${link('/dashboard', 'Dashboard')}</div>${end}</nav>`;
}

/** A page to read. @param body HTML */
export function page(title: string, body: string, { root, current, kind = 'prose' }: Place): string {
  return htmlDocument(
    `${title}${title === 'Latchkey' ? '' : ' - Latchkey'}`,
    `${siteBar(root, current)}<main class="${kind}">${body}</main>`,
  );
}

/** @param body HTML @param head further HTML of its head */
export function htmlDocument(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  ${head}<title>${escape(title)}</title>
  <style>${PAGE_STYLE}</style>
</head>
<body>${body}</body>
</html>
`;
}

/** A table that scrolls by itself if it is too wide. @param rows HTML */
export function table(headings: readonly string[], rows: readonly string[], label: string): string {
  const head = headings.map((heading) => `<th scope="col">${escape(heading)}</th>`).join('');
  return `<div class="scroll stacks" role="region" aria-label="${escape(label)}" tabindex="0"><table>
    <thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

/** The path of `{web_url}`, without a slash at its end. Links begin with it: a proxy may hide it from the service. */
export function rootPath(webUrl: string): string {
  return new URL(webUrl).pathname.replace(/\/$/, '');
}

/** Escapes text for HTML, including attributes in double quotes. */
export function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
