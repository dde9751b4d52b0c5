import { escape, page } from '../html.ts';
import { toInlineHtml } from '../reference/markdown.ts';
import type { Guide } from './guides.ts';
import { renderGuide, type Heading } from './guide-markdown.ts';

/** The addresses of this installation. */
export interface GuideAddresses {
  readonly baseUrl: string;
  readonly webUrl: string;
  /** The path of `webUrl`, which links begin with. */
  readonly root: string;
}

/** Where the commands of the guides send their requests, as the guides are written. */
const EXAMPLE_HOST = '127.0.0.1:3000';

/** The list of all guides. */
export function guideIndexPage(guides: readonly Guide[], { root }: GuideAddresses): string {
  const doors = guides.map(
    ({ name, title, summary }) =>
      `<a class="door" href="${root}/guides/${name}"><strong>${escape(title)}</strong>` +
      `<span>${toInlineHtml(sentence(summary))}</span></a>`,
  );
  return page(
    'Guides',
    `<h1>Guides</h1><p>Each guide leads through one subject, with commands to copy. The
    <a href="${root}/docs">API reference</a> describes every operation.</p>
    <div class="doors">${doors.join('')}</div>`,
    { root, current: 'guides' },
  );
}

/** The page of one guide. */
export function guidePage(guide: Guide, guides: readonly Guide[], addresses: GuideAddresses): string {
  const { root } = addresses;
  const { html, headings } = renderGuide(withAddresses(guide.text, addresses), (href) =>
    addressOf(href, guide, guides, root),
  );
  return page(
    guide.title,
    `<p class="crumbs"><a href="${root}/guides">Guides</a></p>
    ${html.replace('</h1>', (end) => end + contentsOf(headings))}${nextOf(guide, guides, root)}`,
    { root, current: 'guides', kind: 'prose guide' },
  );
}

function contentsOf(headings: readonly Heading[]): string {
  const links = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`);
  return `<nav class="contents" aria-label="On this page"><strong>On this page</strong>
    <ul>${links.join('')}</ul></nav>`;
}

function nextOf(guide: Guide, guides: readonly Guide[], root: string): string {
  const next = guides[guides.indexOf(guide) + 1];
  return next
    ? `<p class="next">Next: <a href="${root}/guides/${next.name}">${escape(next.title)}</a></p>`
    : '';
}

/** Puts the addresses of this installation into the commands. */
function withAddresses(text: string, { baseUrl, webUrl }: GuideAddresses): string {
  // Functions, because a dollar sign in an address is no reference to what was found.
  return text
    .replaceAll(`http://${EXAMPLE_HOST}/errors`, () => `${webUrl}/errors`)
    .replaceAll(`http://${EXAMPLE_HOST}`, () => baseUrl)
    .replaceAll(`ws://${EXAMPLE_HOST}`, () => baseUrl.replace(/^http/, 'ws'))
    .replaceAll('{base_url}', () => baseUrl);
}

/** Where a link between files of the repository leads, if the service has a page for it. */
function addressOf(
  href: string,
  { file }: Guide,
  guides: readonly Guide[],
  root: string,
): string | undefined {
  const { pathname, hash } = new URL(href, `file:///${file}`);
  const guide = guides.find((each) => `/${each.file}` === pathname);
  if (guide) return `${root}/guides/${guide.name}${hash}`;
  return pathname === '/reference/errors.md' ? `${root}/errors` : undefined;
}

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
