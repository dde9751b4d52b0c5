import { Marked, type Tokens } from 'marked';
import { escape } from '../html.ts';

/** A heading with the anchor of its section. */
export interface Heading {
  readonly id: string;
  readonly depth: number;
  /** HTML */
  readonly text: string;
}

/** A guide as HTML. */
export interface RenderedGuide {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/**
 * Renders a guide (CommonMark with tables) as HTML. Tags in it are text.
 * @param addressOf where a relative link leads; undefined for a file that is not served
 */
export function renderGuide(text: string, addressOf: (href: string) => string | undefined): RenderedGuide {
  const headings: Heading[] = [];
  const marked = new Marked({
    async: false,
    renderer: {
      html: ({ text }) => escape(text),
      code: ({ text }) => `<pre tabindex="0"><code>${escape(text)}</code></pre>`,
      heading({ tokens, depth, text }) {
        const heading = { id: anchorOf(text, headings), depth, text: this.parser.parseInline(tokens) };
        headings.push(heading);
        const link = `<a class="anchor" href="#${heading.id}" aria-hidden="true" tabindex="-1">#</a>`;
        return `<h${depth} id="${heading.id}">${heading.text}${depth > 1 ? ` ${link}` : ''}</h${depth}>`;
      },
      link({ href, tokens }) {
        const shown = this.parser.parseInline(tokens);
        const address = /^(?:https?:|#)/.test(href) ? href : addressOf(href);
        return address === undefined ? shown : `<a href="${escape(address)}">${shown}</a>`;
      },
      table({ header, rows }) {
        const cells = (row: readonly Tokens.TableCell[], open: string, close: string) =>
          row.map(({ tokens }) => `<${open}>${this.parser.parseInline(tokens)}</${close}>`).join('');
        const body = rows.map((row) => `<tr>${cells(row, 'td', 'td')}</tr>`).join('');
        const label = escape(header.map((cell) => cell.text).join(', '));
        return `<div class="scroll stacks" role="region" aria-label="${label}" tabindex="0"><table>
          <thead><tr>${cells(header, 'th scope="col"', 'th')}</tr></thead><tbody>${body}</tbody></table></div>`;
      },
    },
  });
  return { html: marked.parse(text, { async: false }), headings };
}

/** The anchor of a heading, from its words. Headings of the same text get a number. */
function anchorOf(text: string, known: readonly Heading[]): string {
  const anchor = text
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s+/g, '-');
  const isNumbered = (id: string) => id.startsWith(`${anchor}-`) && /^\d+$/.test(id.slice(anchor.length + 1));
  const count = known.filter(({ id }) => id === anchor || isNumbered(id)).length;
  return count === 0 ? anchor : `${anchor}-${count}`;
}
