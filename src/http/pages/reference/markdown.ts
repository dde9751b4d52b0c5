import { Marked } from 'marked';
import { escape } from '../html.ts';

/** Descriptions have no HTML of their own, so tags in them are text. */
const marked = new Marked({
  async: false,
  renderer: { html: ({ text }) => escape(text) },
});

/** A description of the contract (CommonMark) as HTML. */
export function toHtml(markdown: string): string {
  return marked.parse(markdown, { async: false });
}

/** A description of one line, without a paragraph around it. */
export function toInlineHtml(markdown: string): string {
  return marked.parseInline(markdown, { async: false });
}
