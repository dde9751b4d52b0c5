import { chromium, type Browser } from 'playwright-core';

/** How slow the device is. */
export interface Device {
  /** How many times slower the processor is. */
  readonly cpuSlowdown: number;
  readonly bitsPerSecond: number;
}

/** A page that is loaded for the first time. */
export interface PageLoad {
  readonly url: string;
  readonly cookie: { readonly name: string; readonly value: string } | undefined;
  /** What is in the document once the user can work with it. */
  readonly ready: string;
}

/** Milliseconds since the navigation began. */
export interface LoadTimes {
  readonly firstPaint: number;
  readonly usable: number;
  /** Of all responses, compressed. */
  readonly bytes: number;
  readonly requests: number;
}

const TIMEOUT_MS = 60_000;
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];

/** Debian's Chromium, or the program that CHROMIUM names. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: FLAGS });
}

/** Loads a page in a new profile, so nothing is cached, and waits until it is usable. */
export async function loadPage(browser: Browser, device: Device, wanted: PageLoad): Promise<LoadTimes> {
  const { url, cookie, ready } = wanted;
  const context = await browser.newContext({ locale: 'en-US' });
  try {
    if (cookie)
      await context.addCookies([
        { ...cookie, url: new URL('/', url).href, httpOnly: true, sameSite: 'Strict' },
      ]);
    const page = await context.newPage();
    await page.addInitScript(`
      window.usable = new Promise((resolve) => {
        const look = () =>
          document.querySelector(${JSON.stringify(ready)})
            ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
            : requestAnimationFrame(look);
        look();
      });`);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Network.enable');
    let bytes = 0;
    let requests = 0;
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
      requests += 1;
    });
    const bytesPerSecond = device.bitsPerSecond / 8;
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: device.cpuSlowdown });
    await page.goto(url, { waitUntil: 'commit' });
    const times = page.evaluate<{ firstPaint: number; usable: number }>(`(async () => ({
      usable: await window.usable,
      firstPaint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    }))()`);
    const timeout = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error(`${url} has no ${ready}`)), TIMEOUT_MS).unref(),
    );
    return { ...(await Promise.race([times, timeout])), bytes, requests };
  } finally {
    await context.close();
  }
}
