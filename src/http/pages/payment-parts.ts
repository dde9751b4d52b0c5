import { hash } from 'node:crypto';
import { catalog } from '../../foundation/errors/catalog.ts';
import type { ApiError } from '../../foundation/errors/api-error.ts';
import { escape } from './html.ts';
import { PAYMENT_STYLE } from './payment-style.ts';
import type { HttpResponse } from '../transport/response.ts';

/** The one style sheet that the policy of these pages lets in. */
const STYLE_HASH = `sha256-${hash('sha256', PAYMENT_STYLE, 'base64')}`;

/** The address of such a page is a secret: nobody keeps it, nobody is told of it. */
export const SECRET_PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
};

/** How often something is paid, in words. */
export const PERIODS = {
  monthly: { each: 'per month', often: 'Every month' },
  yearly: { each: 'per year', often: 'Every year' },
} as const;

const SIGNS = {
  good: '<path d="M5 12.5l4.5 4.5L19 7.5"/>',
  wait: '<path d="M12 7v5l3.5 2"/><circle cx="12" cy="12" r="9"/>',
  bad: '<path d="M7 7l10 10M17 7L7 17"/>',
} as const;

/** A sign that says at a glance how it went; the words beside it say it too. */
export function badge(kind: keyof typeof SIGNS): string {
  return `<div class="badge ${kind}" aria-hidden="true"><svg viewBox="0 0 24 24" fill="none" stroke="currentColor"
    stroke-width="2.25" stroke-linecap="round" stroke-linejoin="round">${SIGNS[kind]}</svg></div>`;
}

/** An amount as people write it: `€49.90`. */
export function money(minor: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const { maximumFractionDigits: digits } = format.resolvedOptions();
  // As text: a large amount divided by 100 is no number.
  return format.format(`${minor}E-${digits}` as `${number}`);
}

/** A moment as people write it. */
export function dateText(moment: Date): string {
  const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(moment)} UTC`;
}

/** A day as people write it. */
export function dayText(moment: Date): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(moment);
}

/** An address as the value of `href`: never one that runs as a script. */
export function linkTo(url: string): string {
  const parsed = URL.parse(url);
  return parsed && /^https?:$/.test(parsed.protocol) ? escape(parsed.href) : '#';
}

/** Whose an address is. */
export function hostOf(url: string): string {
  return escape(URL.parse(url)?.host ?? 'the shop');
}

/**
 * What a field with a fault has besides: its attributes, and the text below it.
 * @param fault plain text; nothing is wrong when it is undefined
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
  const banner = '<p class="test-mode" role="note"><strong>TEST MODE:</strong> no money moves</p>';
  return formPage(title, banner + body);
}

/** A page for one matter, which looks like those of payments. @param body HTML */
export function formPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="robots" content="noindex">
  <title>${escape(title)}</title>
  <style>${PAYMENT_STYLE}</style>
</head>
<body>${body}</body>
</html>
`;
}

/** A page that says one thing. @param line plain text */
export function sayPage(kind: keyof typeof SIGNS, title: string, line: string): string {
  return formPage(
    title,
    `<main class="narrow"><div class="card">${badge(kind)}<h1>${escape(title)}</h1><p class="soft">${escape(line)}</p></div></main>`,
  );
}

/** What cannot be done, said to a person. */
export function refusalPage(title: string, line: string): string {
  return sayPage('bad', title, line);
}

/** Errors of forms that cannot be read, whatever their fields are. */
const UNREADABLE: readonly string[] = ['MALFORMED_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** The response to an error at the address of such a page. */
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
