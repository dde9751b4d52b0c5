import { describe, expect, test } from 'vitest';
import { isClaimableEmail } from '../../src/access/agents/assertions.ts';
import { paymentCredential } from '../../src/http/contract/payment-credential.ts';
import { isMailAddress, parseMailbox } from '../../src/platform/mail/mailbox.ts';

/** No call may block the process for longer. */
const LIMIT_MS = 50;

/** Processor time of the second call in milliseconds. The first one compiles. */
function costOf(call: () => unknown): number {
  call();
  const start = process.cpuUsage();
  call();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const dots = `@${'@.'.repeat(800)}${'..'.repeat(800)} `;

test.each([
  ['@, dots and a blank', dots],
  ['a body of @ and dots', `@${'@.'.repeat(500_000)} `],
  ['a local part of dots', `${'a.'.repeat(500_000)}@example.com`],
  ['a domain of dots', `ada@${'a.'.repeat(500_000)}`],
  ['a domain that is one label', `ada@${'a'.repeat(1_000_000)}`],
  ['a domain of another script', `ada@${'\u00e4'.repeat(500_000)}`],
  ['a domain of combining marks', `ada@${'\u0301'.repeat(500_000)}`],
])('an email address is refused quickly: %s', (_, text) => {
  expect(isClaimableEmail(text)).toBe(false);
  expect(isMailAddress(text)).toBe(false);
  expect(costOf(() => isClaimableEmail(text))).toBeLessThan(LIMIT_MS);
  expect(costOf(() => isMailAddress(text))).toBeLessThan(LIMIT_MS);
});

test.each([
  ['ada@example.com', true],
  ['ada.b+c@mail.example.co.uk', true],
  ['ada@localhost', false],
  ['ad\u00e4@example.com', false],
  ['ada@b\u00fccher.example', false],
  ['ada@xn--bcher-kva.example', true],
  ['ada@example.', false],
  ['ada@.example', false],
  ['a@b@example.com', false],
  ['a.b@example', false],
])('%s can be claimed: %s', (text, isClaimable) => {
  expect(isClaimableEmail(text)).toBe(isClaimable);
});

test.each([
  ['Latchkey <no-reply@example.com>', { name: 'Latchkey', address: 'no-reply@example.com' }],
  ['"Latchkey, Inc."   <no-reply@example.com>', { name: 'Latchkey, Inc.', address: 'no-reply@example.com' }],
  ['"Latchkey"<no-reply@example.com>', { name: 'Latchkey', address: 'no-reply@example.com' }],
  ['<no-reply@example.com>', { name: '', address: 'no-reply@example.com' }],
  [' no-reply@example.com ', { name: '', address: 'no-reply@example.com' }],
  ['Latchkey no-reply@example.com', undefined],
  ['Latch"key <no-reply@example.com>', undefined],
  ['Latchkey <<no-reply@example.com>', undefined],
  ['Latchkey <no-reply@example.com> x', undefined],
])('a mailbox is read: %s', (text, mailbox) => {
  expect(parseMailbox(text)).toEqual(mailbox);
});

test('a mailbox of blanks is refused quickly', () => {
  const text = `"${' '.repeat(15_000)}x`;
  expect(parseMailbox(text)).toBeUndefined();
  expect(costOf(() => parseMailbox(text))).toBeLessThan(LIMIT_MS);
});

describe('a payment credential', () => {
  const encoded = Buffer.from('{"a":1}').toString('base64url');

  test.each([
    [undefined, undefined],
    ['', undefined],
    ['Bearer x', undefined],
    ['Payments x', undefined],
    [`Payment\t${encoded}`, undefined],
    ['Payment', { credential: undefined }],
    ['Payment  ', { credential: undefined }],
    ['Payment a b', { credential: undefined }],
    [`Payment ${encoded}=`, { credential: undefined }],
    [`Payment ${encoded}`, { credential: { a: 1 } }],
    [`pAYMENT   ${encoded}   `, { credential: { a: 1 } }],
  ])('is read from %j', (header, expected) => {
    expect(paymentCredential(header)).toEqual(expected);
  });

  test('of blanks is refused quickly', () => {
    const header = `Payment T${' '.repeat(15_000)}M`;
    expect(paymentCredential(header)).toEqual({ credential: undefined });
    expect(costOf(() => paymentCredential(header))).toBeLessThan(LIMIT_MS);
  });
});
