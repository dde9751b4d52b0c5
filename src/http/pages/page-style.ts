import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The one style of all pages, which is inside of each page: then its policy allows no other. */
export const PAGE_STYLE = readFileSync(new URL('../../../generated/pages.css', import.meta.url), 'utf8');

/** The source expression that allows it. */
export const PAGE_STYLE_SOURCE = `'sha256-${hash('sha256', PAGE_STYLE, 'base64')}'`;
