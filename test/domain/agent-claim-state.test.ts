import { describe, expect, test } from 'vitest';
import {
  claimState,
  codeFrom,
  isCodeLive,
  mailDue,
  readCode,
} from '../../src/access/agents/claims/claim-state.ts';
import { keptFor } from '../../src/access/agents/issuer-state.ts';

const now = new Date('2026-11-21T10:00:00.000Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);

test('a code is six digits for any bytes, and all codes are equally likely', () => {
  expect(codeFrom(Buffer.alloc(8))).toBe('000000');
  expect(codeFrom(Buffer.alloc(8, 0xff))).toMatch(/^\d{6}$/);
  const low = Buffer.alloc(8);
  low.writeBigUInt64BE(1_000_042n);
  expect(codeFrom(low)).toBe('000042');
});

test('a code is accepted with spaces and hyphens', () => {
  for (const text of ['402913', '402 913', '402-913', ' 402913\n']) expect(readCode(text)).toBe('402913');
});

test('the state of a claim', () => {
  const open = { expires_at: at(1), completed_at: null, rejected_at: null };
  expect(claimState(open, now)).toBe('open');
  expect(claimState({ ...open, expires_at: now }, now)).toBe('expired');
  expect(claimState({ ...open, rejected_at: now }, now)).toBe('rejected');
  expect(claimState({ ...open, expires_at: at(-9), completed_at: at(-10) }, now)).toBe('claimed');
});

test('a code can be tried until it expires or fails five times', () => {
  const live = { otp_digest: Buffer.alloc(32), otp_expires_at: at(1), otp_failures: 4 };
  expect(isCodeLive(live, now)).toBe(true);
  expect(isCodeLive({ ...live, otp_expires_at: now }, now)).toBe(false);
  expect(isCodeLive({ ...live, otp_failures: 5 }, now)).toBe(false);
  expect(isCodeLive({ ...live, otp_digest: null }, now)).toBe(false);
});

describe('starting a claim sends', () => {
  const mailed = { email: 'ada@example.com', mails: 1, mailed_at: at(-59), view_digest: Buffer.alloc(32) };
  test.each([
    ['nothing within a minute', mailed, 'ADA@example.com', 'sent'],
    ['a mail after a minute', { ...mailed, mailed_at: at(-60) }, 'ada@example.com', 'send'],
    ['a mail to another address', mailed, 'eve@example.com', 'send'],
    ['no sixth mail', { ...mailed, mails: 5, mailed_at: at(-60) }, 'ada@example.com', 'too_many'],
    ['no sixth mail to another address either', { ...mailed, mails: 5 }, 'eve@example.com', 'too_many'],
    [
      'the first mail',
      { email: null, mails: 0, mailed_at: null, view_digest: null },
      'ada@example.com',
      'send',
    ],
  ] as const)('%s', (_what, claim, email, due) => {
    expect(mailDue(claim, email, now)).toBe(due);
  });
});

test.each([
  [undefined, 600],
  ['no-store', 600],
  ['max-age=60', 600],
  ['public, max-age=3600, must-revalidate', 3600],
  ['s-maxage=3600', 600],
  ['max-age="7200"', 7200],
  ['max-age=999999999', 86_400],
  ['max-age=-1', 600],
])('keys with Cache-Control %s are cached for %i s', (header, seconds) => {
  expect(keptFor(header)).toBe(seconds * 1000);
});
