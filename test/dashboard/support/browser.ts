import { chromium, type Browser, type BrowserContextOptions, type Page, type Request } from 'playwright-core';
import { atFileEnd } from '../../support/at-file-end.ts';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium, as Debian packages it. It stops after the last test of the file. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: FLAGS,
  });
  atFileEnd(() => browser.close());
  return browser;
}

/** What a page must never do. */
export interface Watched {
  readonly page: Page;
  /** Errors of scripts, violations of the policy, requests to other origins, and failed requests, in order. */
  readonly faults: readonly string[];
  /** Resolves when no request has been open for a while, except streams, which stay open. */
  idle(): Promise<void>;
}

const QUIET_MS = 250;
/** Longer than the service takes for any response. */
const AT_MOST_MS = 60_000;

interface Options extends BrowserContextOptions {
  readonly origin: string;
  /** What the time is on the page. */
  readonly now: Date;
}

/** Opens a page of a new browser profile and watches it. */
export async function openPage(browser: Browser, { origin, now, ...options }: Options): Promise<Watched> {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'Europe/Berlin', ...options });
  atFileEnd(() => context.close());
  await context.clock.setFixedTime(now);
  // A limit for what never comes: a busy machine takes several times as long as a quiet one.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // A 401 before the sign-in is how the page learns that no one is signed in.
    if (message.type() !== 'error' || message.text().includes('401 (Unauthorized)')) return;
    faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol))
      faults.push(`request: ${url.href}`);
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    if (reason !== 'net::ERR_ABORTED') faults.push(`failed: ${request.url()} ${reason}`);
  });
  await page.exposeFunction('reportViolation', (text: string) => faults.push(`policy: ${text}`));
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    reportViolation([event.violatedDirective, event.blockedURI, event.sourceFile, event.lineNumber].join(' ')))`);
  return { page, faults, idle: watchRequests(page) };
}

/** Playwright's own wait for a quiet network would wait for streams, which end only with the page. */
function watchRequests(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  let changedAt = Date.now();
  const change = (request: Request, isOpen: boolean) => {
    if (request.url().includes('/events/stream')) return;
    if (isOpen) open.add(request);
    else open.delete(request);
    changedAt = Date.now();
  };
  page.on('request', (request) => change(request, true));
  page.on('requestfinished', (request) => change(request, false));
  page.on('requestfailed', (request) => change(request, false));
  // A document that was left does not report how its requests end.
  page.on('framenavigated', () => open.clear());
  return async () => {
    const end = Date.now() + AT_MOST_MS;
    while (open.size > 0 || Date.now() - changedAt < QUIET_MS) {
      if (Date.now() > end) throw new Error(`still open: ${[...open].map((each) => each.url()).join(', ')}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
}
