import type { ErrorRequestHandler } from 'express';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { createErrorResponses } from '../../../src/http/server/error-response.ts';
import { createPages } from '../../../src/http/pages/pages.ts';
import { toApiError } from '../../../src/http/transport/problem.ts';
import { writeResponse } from '../../../src/http/transport/response.ts';
import { CARDS, form, monthly, openTestShop, pro } from './support/test-shop.ts';

const shop = await openTestShop();
const { processor, order, buy, clock, workAll } = shop;

const errors = createErrorResponses({
  addresses: { mcpPath: '/mcp', resourceMetadata: () => '' },
  webUrl: () => '',
  clock,
});

const onError: ErrorRequestHandler = (error, request, response, _next) => {
  const refusal = errors.forRequest(toApiError(error), 'req_test', request);
  void writeResponse(response, 'req_test', refusal);
};

async function serve(checkoutPage: typeof processor.page | undefined): Promise<string> {
  const app = createPages({
    document: {},
    baseUrl: () => '',
    webUrl: () => 'http://localhost',
    discovery: { paths: [], read: async () => ({ mediaType: 'text/plain', text: '' }) },
    deprecations: [],
    checkouts: { stateOf: async () => undefined },
    metrics: (_request, response) => void response.end(),
    checkoutPage,
    onError,
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const base = await serve(processor.page);

const get = (path: string) => fetch(base + path, { redirect: 'manual' });
const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(base + path, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' });

const opened = async (...changes: Parameters<typeof order>) =>
  (await processor.openCheckout(order(...changes))).sessionRef;
const stateOf = async (sessionRef: string) => (await processor.page.view(sessionRef))!.state;

describe('what is shown', () => {
  test('the product, its price and how often it is paid, the test cards, and that it is a test', async () => {
    const sessionRef = await opened({ ...monthly, name: 'Starlight', amountMinor: 123_456 });
    const html = await (await get(`/pay/${sessionRef}`)).text();
    for (const text of [
      'TEST MODE:</strong> no money moves',
      'Starlight',
      '€1,234.56',
      'per month',
      'ada@example.com',
      '4000 0025 0000 3155',
      'href="https://shop.example.com/cart"',
    ]) {
      expect(html).toContain(text);
    }
    expect(html).not.toMatch(/<script|javascript:|\son\w+=/);
  });

  test.each([
    ['JPY', 5_000, '¥5,000'],
    ['KWD', 12_345, 'KWD&nbsp;12.345'],
    ['USD', 999_999_999_999_999, '$9,999,999,999,999.99'],
  ])('an amount of %s exactly', async (currency, amountMinor, text) => {
    const sessionRef = await opened({ ...pro, currency, amountMinor });
    const html = await (await get(`/pay/${sessionRef}`)).text();
    expect(html.replaceAll('\u00a0', '&nbsp;')).toContain(text);
  });

  test('each field has a label for people and a purpose for browsers', async () => {
    const html = await (await get(`/pay/${await opened()}`)).text();
    for (const [name, autocomplete] of [
      ['name', 'cc-name'],
      ['number', 'cc-number'],
      ['expiry', 'cc-exp'],
      ['cvc', 'cc-csc'],
    ]) {
      expect(html).toContain(`<label for="${name}">`);
      expect(html).toMatch(
        new RegExp(`<input id="${name}" name="${name}"[^>]*autocomplete="${autocomplete}"`),
      );
    }
  });

  test('hostile names, mail addresses and URLs are shown as text', async () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`;
    const url = `https://shop.example.com/?a="><script>alert(3)</script>&b='x'`;
    const customer = { reference: 'dev', email: `${hostile}@example.com`, customerRef: null };
    const product = { ...monthly, name: hostile };
    const orders = { customer, successUrl: url, cancelUrl: url };
    const pages = [];
    const open = await opened(product, orders);
    pages.push(await get(`/pay/${open}`));
    pages.push(await post(`/pay/${open}`, { name: hostile, expiry: hostile, number: hostile, cvc: hostile }));
    for (const number of [CARDS.pays, CARDS.delayed, CARDS.authenticates]) {
      const { sessionRef } = await buy(product, number, orders);
      pages.push(await get(`/pay/${sessionRef}${number === CARDS.authenticates ? '/bank' : '/receipt'}`));
    }
    for (const page of pages) {
      const html = await page.text();
      expect(html).toContain(page.url.includes('/pay/') ? '</html>' : '');
      expect(html).not.toMatch(/<script|<img/);
      // Quoted values contain no markup.
      for (const [, value] of html.matchAll(/(?:value|href|action)="([^"]*)"/g)) {
        expect(value).not.toMatch(/[<>]/);
      }
    }
  });
});

describe('headers', () => {
  test('forbid scripts, caching and referrers', async () => {
    const sessionRef = await opened();
    const responses = [
      await get(`/pay/${sessionRef}`),
      await post(`/pay/${sessionRef}`, { name: '' }),
      await post(`/pay/${sessionRef}`, form(CARDS.pays)),
      await get(`/pay/${sessionRef}`),
      await get(`/pay/${sessionRef}/receipt`),
      await get('/pay/nothing'),
      await post(`/pay/${sessionRef}`, form(CARDS.pays), { Origin: 'https://evil.example' }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 422, 303, 303, 200, 404, 403]);
    for (const { headers } of responses) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      const policy = headers.get('content-security-policy')!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('script-src');
    }
  });

  test('a refused method lists the allowed ones', async () => {
    const path = `/pay/${await opened()}`;
    const allowed = async (method: string, to: string) => {
      const refusal = await fetch(base + to, { method });
      return [refusal.status, refusal.headers.get('allow')];
    };
    expect(await allowed('DELETE', path)).toEqual([405, 'GET, HEAD, POST']);
    expect(await allowed('POST', `${path}/receipt`)).toEqual([405, 'GET, HEAD']);
    expect(await allowed('GET', `${path}/tools`)).toEqual([405, 'POST']);
    expect((await fetch(base + path, { method: 'HEAD' })).status).toBe(200);
  });

  test('without a test processor the page does not exist', async () => {
    const without = await serve(undefined);
    const sessionRef = await opened();
    expect((await fetch(`${without}/pay/${sessionRef}`)).status).toBe(404);
    expect((await fetch(`${without}/pay/${sessionRef}`, { method: 'POST' })).status).toBe(404);
  });
});

describe('a form', () => {
  test('with faults keeps what was typed, but not the number and the code', async () => {
    const sessionRef = await opened();
    const refusal = await post(`/pay/${sessionRef}`, {
      name: 'Ada <Lovelace>',
      number: '5555 5555 5555 4444',
      expiry: '01 / 20',
      cvc: '98765',
    });
    expect(refusal.status).toBe(422);
    const html = await refusal.text();
    expect(html).toContain('value="Ada &lt;Lovelace&gt;"');
    expect(html).toContain('value="01 / 20"');
    expect(html).not.toMatch(/5555|98765/);
    expect(html).toContain('role="alert"');
    for (const name of ['number', 'expiry', 'cvc']) {
      expect(html).toMatch(
        new RegExp(`<input id="${name}"[^>]*aria-invalid="true" aria-describedby="${name}-fault"`),
      );
      expect(html).toContain(`<p class="fault" id="${name}-fault">`);
    }
    expect(html).not.toContain('id="name-fault"');
    expect(await stateOf(sessionRef)).toBe('open');
  });

  test('with a declined card shows the decline', async () => {
    const sessionRef = await opened();
    const refusal = await post(`/pay/${sessionRef}`, form(CARDS.declined));
    expect(refusal.status).toBe(422);
    expect(await refusal.text()).toContain('The card was declined');
  });

  test('pays, and leads to the receipt', async () => {
    const sessionRef = await opened();
    const refusal = await post(`/pay/${sessionRef}`, form(CARDS.pays));
    expect(refusal.status).toBe(303);
    expect(refusal.headers.get('location')).toBe(`/pay/${sessionRef}/receipt`);
    const html = await (await get(refusal.headers.get('location')!)).text();
    expect(html).toMatch(/TP-\d{6}/);
    expect(html).toContain('€49.90');
    expect(html).toContain('Nov 21, 2026');
    expect(html).toContain('href="https://shop.example.com/thanks"');
  });

  test('that is sent twice pays once', async () => {
    const sessionRef = await opened();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => post(`/pay/${sessionRef}`, form(CARDS.pays))),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([303]));
    expect((await processor.page.receipt(sessionRef))!.payments).toHaveLength(1);
  });

  test.each([
    ['approve', 303, 'paid'],
    ['decline', 422, 'open'],
    ['', 422, 'open'],
  ])('leads to the bank, where the payer chooses %j', async (decision, status, state) => {
    const sessionRef = await opened();
    const refusal = await post(`/pay/${sessionRef}`, form(CARDS.authenticates));
    expect(refusal.headers.get('location')).toBe(`/pay/${sessionRef}/bank`);
    expect((await get(`/pay/${sessionRef}`)).headers.get('location')).toBe(`/pay/${sessionRef}/bank`);
    expect((await get(`/pay/${sessionRef}/receipt`)).headers.get('location')).toBe(`/pay/${sessionRef}/bank`);
    expect(await (await get(`/pay/${sessionRef}/bank`)).text()).toContain('Approve');
    expect((await post(`/pay/${sessionRef}/bank`, { decision })).status).toBe(status);
    expect(await stateOf(sessionRef)).toBe(state);
  });

  test.each([
    ['large', 'application/x-www-form-urlencoded', `name=${'x'.repeat(5_000)}`, 413],
    ['of many fields', 'application/x-www-form-urlencoded', 'a=1&'.repeat(20), 400],
    ['of another encoding', 'application/x-www-form-urlencoded; charset=utf-16', 'name=x', 415],
    ['of another type', 'application/json', '{"name":"Ada"}', 415],
    ['of fields that come twice', 'application/x-www-form-urlencoded', 'name=a&name=b', 400],
    ['of nothing', 'application/x-www-form-urlencoded', '', 422],
  ])('%s is refused', async (_what, type, body, status) => {
    const sessionRef = await opened();
    const headers = { 'Content-Type': type };
    const refusal = await fetch(`${base}/pay/${sessionRef}`, { method: 'POST', body, headers });
    expect(refusal.status).toBe(status);
    expect(refusal.headers.get('content-type')).toContain('text/html');
    expect(await stateOf(sessionRef)).toBe('open');
  });

  test('of a page that does not exist', async () => {
    for (const path of [
      '/pay/nothing',
      '/pay/nothing/bank',
      '/pay/nothing/tools',
      `/pay/${'x'.repeat(500)}`,
    ]) {
      expect((await post(path, form(CARDS.pays))).status).toBe(404);
    }
    expect((await get('/pay/nothing/bank')).status).toBe(404);
    expect((await get('/pay/nothing/receipt')).status).toBe(404);
    expect((await get('/pay/%00')).status).toBe(404);
  });
});

describe('a form from another site', () => {
  const own = new URL(base);

  test.each([
    [{ Origin: 'https://evil.example' }, false],
    [{ Origin: `http://127.0.0.1:1` }, false],
    [{ Origin: 'https://latchkey.example.com.evil.example' }, false],
    [{ 'Sec-Fetch-Site': 'cross-site' }, false],
    [{ 'Sec-Fetch-Site': 'same-site' }, false],
    [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'null' }, false],
    [{ 'Sec-Fetch-Site': 'cross-site', Origin: own.origin }, false],
    [{ 'Sec-Fetch-Site': 'nonsense' }, false],
    [{ 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }, true],
    [{ 'Sec-Fetch-Site': 'none' }, true],
    [{ Origin: own.origin }, true],
    [{ Origin: 'https://latchkey.example.com' }, true],
    [{ Origin: 'null' }, true],
    [{}, true],
  ])('%j: taken %s', async (sent, taken) => {
    const headers = Object.fromEntries(Object.entries(sent) as [string, string][]);
    // fetch sets some of these headers by itself.
    const { request } = await import('node:http');
    const sessionRef = await opened();
    const status = await new Promise((resolve, reject) => {
      const body = new URLSearchParams(form(CARDS.pays)).toString();
      request(`${base}/pay/${sessionRef}`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
      })
        .on('response', (refusal) => resolve(refusal.resume().statusCode))
        .on('error', reject)
        .end(body);
    });
    expect(status).toBe(taken ? 303 : 403);
    expect(await stateOf(sessionRef)).toBe(taken ? 'paid' : 'open');
  });
});

describe('afterwards', () => {
  test('a pending payment, a failed payment and an expired page are shown', async () => {
    const late = await opened();
    const [paid, failed] = [await buy(pro, CARDS.delayed), await buy(pro, CARDS.delayedFailure)];
    const read = async (sessionRef: string) => {
      const refusal = await get(`/pay/${sessionRef}/receipt`);
      return [refusal.status, /<h1>([^<]*)/.exec(await refusal.text())![1]];
    };
    expect(await read(paid.sessionRef)).toEqual([200, 'Your bank is processing the payment']);
    clock.advance(3_600_000);
    expect(await read(paid.sessionRef)).toEqual([200, 'Thank you: €49.90 paid']);
    expect(await read(failed.sessionRef)).toEqual([200, 'The payment failed']);
    expect(await read(late)).toEqual([410, 'This page has expired']);
    const refusal = await post(`/pay/${late}`, form(CARDS.pays));
    expect(refusal.headers.get('location')).toBe(`/pay/${late}/receipt`);
    expect(await stateOf(late)).toBe('expired');
  });

  test('the test tools open and close a dispute', async () => {
    const { sessionRef, paymentRef } = await buy();
    const another = await buy();
    const use = (tool: string) => post(`/pay/${sessionRef}/tools`, { tool });
    const dispute = async () => (await processor.page.receipt(sessionRef))!.payments[0]!.dispute;
    const html = async () => (await get(`/pay/${sessionRef}/receipt`)).text();

    expect(await html()).toContain(`value="dispute:${paymentRef}"`);
    for (const tool of [
      '',
      'refund',
      `dispute:${another.paymentRef}`,
      'dispute',
      `dispute_won:${paymentRef}`,
    ]) {
      expect((await use(tool)).status).toBe(303);
    }
    expect(await dispute()).toBeNull();
    expect((await processor.page.receipt(another.sessionRef))!.payments[0]!.dispute).toBeNull();

    await use(`dispute:${paymentRef}`);
    expect(await dispute()).toBe('open');
    expect(await html()).toContain(`value="dispute_lost:${paymentRef}"`);
    await use(`dispute_lost:${paymentRef}`);
    expect(await dispute()).toBe('lost');
    expect(await html()).toContain('Lost in a dispute');
    const foreign = await post(
      `/pay/${sessionRef}/tools`,
      { tool: `dispute:${paymentRef}` },
      { Origin: 'https://evil.example' },
    );
    expect(foreign.status).toBe(403);
  });

  test('renewals are listed and can be made to fail', async () => {
    const { sessionRef, subscriptionRef } = await buy(monthly);
    await processor.refund((await processor.page.receipt(sessionRef))!.payments[0]!.paymentRef, 990, 'part');
    clock.advance(31 * 86_400_000);
    await workAll();
    const html = async () => (await get(`/pay/${sessionRef}/receipt`)).text();
    expect((await html()).match(/TP-\d{6}<br>/g)).toHaveLength(2);
    expect(await html()).toContain('€9.90 refunded');
    await post(`/pay/${sessionRef}/tools`, { tool: 'renewals_fail:' });
    clock.advance(31 * 86_400_000);
    await workAll();
    expect(await html()).toContain('the last payment failed');
    await post(`/pay/${sessionRef}/tools`, { tool: 'renewals_pay:' });
    clock.advance(86_400_000);
    await workAll();
    expect((await html()).match(/TP-\d{6}<br>/g)).toHaveLength(3);
    await processor.endSubscription(subscriptionRef, false);
    expect(await html()).toContain('has ended');
  });
});
