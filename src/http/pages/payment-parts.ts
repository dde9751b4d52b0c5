import { catalog } from '../../foundation/errors/catalog.ts';
import type { ApiError } from '../../foundation/errors/api-error.ts';
import { BRAND, escape, htmlDocument } from './html.ts';
import { PAGE_STYLE_SOURCE } from './page-style.ts';
import type { HttpResponse } from '../transport/response.ts';

/** The address of such a page is a secret, which no cache, referrer or search engine may receive. */
export const SECRET_PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    `default-src 'none'; style-src ${PAGE_STYLE_SOURCE}; base-uri 'none'; ` +
    `form-action 'self'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
};

/** How often a subscription is paid, in words. */
export const PERIODS = {
  monthly: { each: 'per month', often: 'Every month' },
  yearly: { each: 'per year', often: 'Every year' },
} as const;

const SIGNS = {
  good: '<path d="M5 12.5l4.5 4.5L19 7.5"/>',
  wait: '<path d="M12 7v5l3.5 2"/><circle cx="12" cy="12" r="9"/>',
  bad: '<path d="M7 7l10 10M17 7L7 17"/>',
} as const;

/** An icon for the outcome, which the text next to it states too. */
export function badge(kind: keyof typeof SIGNS): string {
  return `<div class="badge ${kind}" aria-hidden="true"><svg viewBox="0 0 24 24" fill="none" stroke="currentColor"
    stroke-width="2.25" stroke-linecap="round" stroke-linejoin="round">${SIGNS[kind]}</svg></div>`;
}

/** An amount for people: `€49.90`. */
export function money(minor: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const { maximumFractionDigits: digits } = format.resolvedOptions();
  // As text, because a large amount divided by 100 is not exact.
  return format.format(`${minor}E-${digits}` as `${number}`);
}

/** A time for people. */
export function dateText(moment: Date): string {
  const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(moment)} UTC`;
}

/** A day for people. */
export function dayText(moment: Date): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(moment);
}

/** A URL as the value of `href`; never one that runs as a script. */
export function linkTo(url: string): string {
  const parsed = URL.parse(url);
  return parsed && /^https?:$/.test(parsed.protocol) ? escape(parsed.href) : '#';
}

/** The host of a URL. */
export function hostOf(url: string): string {
  return escape(URL.parse(url)?.host ?? 'the shop');
}

/**
 * The error of a form field: the attributes of its input, and the text below it.
 * @param fault plain text; undefined for a valid field
 */
export function faultOf(
  id: string,
  fault: string | undefined,
): { readonly marks: string; readonly text: string } {
  if (fault === undefined) return { marks: '', text: '' };
  return {
    marks: ` aria-invalid="true" aria-describedby="${id}-fault"`,
    text: `<p class="fault" id="${id}-fault">${escape(fault)}</p>`,
  };
}

/** @param body HTML */
export function paymentPage(title: string, body: string): string {
  const banner = '<aside class="test-mode"><strong>TEST MODE:</strong> no money moves</aside>';
  return formPage(title, banner + body);
}

/** A page for a single task. @param body HTML */
export function formPage(title: string, body: string): string {
  return htmlDocument(title, body, '<meta name="robots" content="noindex">\n  ');
}

/** The content of such a page. @param body HTML */
export function cardOf(body: string): string {
  return `<main class="narrow">${BRAND}<div class="card">${body}</div></main>`;
}

/** A page with one message. @param line plain text */
export function messagePage(kind: keyof typeof SIGNS, title: string, line: string): string {
  return formPage(
    title,
    cardOf(`${badge(kind)}<h1>${escape(title)}</h1><p class="soft">${escape(line)}</p>`),
  );
}

/** A page that says why a request was refused. */
export function refusalPage(title: string, line: string): string {
  return messagePage('bad', title, line);
}

/** Errors of forms that cannot be read, regardless of their fields. */
const UNREADABLE: readonly string[] = ['MALFORMED_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** The response to an error of such a page. */
export function refusalPageResponse({ code, status, detail, retryAfter }: ApiError): HttpResponse {
  const page = UNREADABLE.includes(code)
    ? refusalPage('This form cannot be read', 'Please go back and try again.')
    : refusalPage(catalog[code].title, detail);
  return {
    status,
    mediaType: 'text/html; charset=utf-8',
    text: page,
    headers: {
      ...SECRET_PAGE_HEADERS,
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
  };
}
