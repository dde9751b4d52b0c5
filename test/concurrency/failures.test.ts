import { expect, test } from 'vitest';
import { newApp, newDeveloper, newHwid, newNonce, newUser, unique, type User } from '../support/fixtures.ts';
import { patiently, tally, type LightResponse, type LightOptions } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

/** Failures per minute of one account from one origin. */
const FAILURES = 10;
const WINDOW_MS = 60_000;

const two = await startTwoProcesses({ TRUSTED_PROXIES: '127.0.0.1/32' });
const { client } = two;
const [{ api }] = two.services;
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
// Responses show which passwords are right, wherever they come from.
await app.patch({ hwid_lock: false });

let clients = 0;
const newAddress = () => `203.0.113.${(clients += 1)}`;
const via = (address: string): LightOptions => ({ headers: { 'x-forwarded-for': address } });

const login = (turn: number, user: User, address: string): Promise<LightResponse> =>
  turn % 4 < 2
    ? client(turn).post('/api/v1/client/login', app.with(user), via(address))
    : client(turn).signed('login', app, { ...user, nonce: newNonce() }, via(address));

/** A different wrong password each time. */
const guess = (turn: number, user: User, address: string) =>
  login(turn, { ...user, password: `a guess ${turn}` }, address);

const guesses = (amount: number, user: User, address: string) =>
  Promise.all(Array.from({ length: amount }, (_, turn) => guess(turn, user, address)));

/**
 * A test within one window, which starts with its first failure. If it took longer than a window on a slow machine, it
 * runs again.
 */
function trial(name: string, work: () => Promise<void>): void {
  test(name, { timeout: 4 * WINDOW_MS }, async () => {
    for (let attempts = 3; ; attempts -= 1) {
      const began = performance.now();
      const failure = await work().then(
        () => undefined,
        (error: unknown) => error,
      );
      const within = performance.now() - began < WINDOW_MS;
      if (within && failure === undefined) return;
      if (within || attempts === 1) throw failure ?? new Error('no attempt fits into a window');
    }
  });
}

/** Ten were checked, and the others were refused. */
function expectTen(responses: readonly LightResponse[]): void {
  expect(tally(responses)).toEqual({
    '401 INVALID_CREDENTIALS': FAILURES,
    '429 TOO_MANY_REQUESTS': responses.length - FAILURES,
  });
  for (const { status, headers } of responses)
    if (status === 429) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}

function expectRefused(response: LightResponse): void {
  expect(response.code).toBe('TOO_MANY_REQUESTS');
  expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(WINDOW_MS / 1_000);
  expect(response.body['detail']).toMatch(/attempts have failed/);
}

/** Right passwords may have to wait for hashing, which is another 429. */
const rightly = (turn: number, user: User, address: string) => patiently(() => login(turn, user, address));

trial(
  '60 wrong passwords at once over two processes: ten are checked, and then not even the right one',
  async () => {
    const owner = await newUser(api, app);
    const stranger = { ...owner, hwid: newHwid() };
    const address = newAddress();
    expectTen(await guesses(60, stranger, address));
    for (let turn = 0; turn < 4; turn += 1) {
      expectRefused(await login(turn, stranger, address));
      expectRefused(await login(turn, { ...stranger, hwid: newHwid() }, address));
    }
    // The owner can log in with their own machine, even from the same address, and with other machines from elsewhere.
    for (let turn = 0; turn < 4; turn += 1) {
      expect((await rightly(turn, owner, address)).status).toBe(200);
      expect((await rightly(turn, stranger, newAddress())).status).toBe(200);
    }
    expectRefused(await login(1, stranger, address));
  },
);

trial(
  "wrong passwords from the user's own machine lock it out at that address, but not elsewhere",
  async () => {
    const owner = await newUser(api, app);
    const other = { ...owner, hwid: newHwid() };
    const address = newAddress();
    expectTen(await guesses(45, owner, address));
    for (let turn = 0; turn < 4; turn += 1) {
      expectRefused(await login(turn, owner, address));
      expectRefused(await login(turn, other, address));
    }
    const elsewhere = newAddress();
    expect((await rightly(0, owner, elsewhere)).status).toBe(200);
    expect((await rightly(1, other, elsewhere)).status).toBe(200);
    const neighbor = await newUser(api, app);
    expect((await rightly(2, neighbor, address)).status).toBe(200);
  },
);

trial('a stranger with many machines gets no more guesses, and does not lock out the owner’s', async () => {
  const owner = await newUser(api, app);
  const address = newAddress();
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, turn) => guess(turn, { ...owner, hwid: newHwid() }, address)),
  );
  expectTen(responses);
  expectRefused(await login(1, { ...owner, hwid: newHwid() }, address));
  expect((await rightly(0, owner, address)).status).toBe(200);
});

trial('unknown users are locked like existing ones, in every spelling', async () => {
  const owner = await newUser(api, app);
  const missing = { ...owner, username: unique('unknown') };
  for (const { username } of [missing, owner]) {
    const address = newAddress();
    const spellings = [
      username,
      username.toUpperCase(),
      ` ${username}  `,
      [...username]
        .map((c) => (/[a-z]/.test(c) ? String.fromCodePoint(c.codePointAt(0)! + 0xfee0) : c))
        .join(''),
    ];
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, turn) => {
        const spelled = { ...owner, username: spellings[turn % 4]!, hwid: newHwid() };
        return guess(turn, spelled, address);
      }),
    );
    expectTen(responses);
    const { body } = await guess(0, { ...owner, username, hwid: newHwid() }, address);
    expect(body['detail']).toMatch(/attempts have failed/);
  }
});

trial('failures at many addresses do not lock out another one', async () => {
  const owner = await newUser(api, app);
  const addresses = Array.from({ length: 4 }, newAddress);
  for (const address of addresses)
    for (let turn = 0; turn < 12; turn += 1) {
      const response = await guess(turn, { ...owner, hwid: newHwid() }, address);
      expect(response.status).toBe(turn < FAILURES ? 401 : 429);
    }
  expect((await rightly(0, owner, newAddress())).status).toBe(200);
  expect((await rightly(1, { ...owner, hwid: newHwid() }, newAddress())).status).toBe(200);
});

trial('an IPv6 address counts as its /64', async () => {
  const owner = await newUser(api, app);
  const stranger = () => ({ ...owner, hwid: newHwid() });
  const block = `2001:db8:${(clients += 1).toString(16)}:1`;
  const responses = await Promise.all(
    Array.from({ length: 30 }, (_, turn) => guess(turn, stranger(), `${block}::${turn.toString(16)}`)),
  );
  expectTen(responses);
  expectRefused(await login(0, stranger(), `${block}:ffff::1`));
  const next = block.replace(/1$/, '2');
  expect((await rightly(0, stranger(), `${next}::1`)).status).toBe(200);
});

trial('the right password among 60 at once does not bypass the limit', async () => {
  const owner = await newUser(api, app);
  const stranger = { ...owner, hwid: newHwid() };
  const address = newAddress();
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, turn) =>
      turn === 30 ? login(turn, stranger, address) : guess(turn, stranger, address),
    ),
  );
  const { '200': right = 0, ...others } = tally(responses);
  expect(right).toBeLessThanOrEqual(1);
  expect(others).toEqual({
    '401 INVALID_CREDENTIALS': FAILURES,
    '429 TOO_MANY_REQUESTS': 60 - FAILURES - right,
  });
  expectRefused(await login(0, stranger, address));
});

trial('users with the same name in two applications are counted separately', async () => {
  const other = await newApp(api, developer);
  const owner = await newUser(api, app);
  await newUser(api, other, owner);
  const address = newAddress();
  expectTen(await guesses(20, { ...owner, hwid: newHwid() }, address));
  const elsewhere = await patiently(() =>
    client(1).post('/api/v1/client/login', other.with(owner), via(address)),
  );
  expect(elsewhere.status).toBe(200);
});

trial('existing and unknown developers have ten failures at one address', async () => {
  const { email, password } = await newDeveloper(api);
  const signIn = (turn: number, address: string, account: { email: string; password: string }) =>
    client(turn).post('/api/v2/dev/login', account, via(address));
  for (const name of [email, `${unique('unknown')}@example.com`]) {
    const address = newAddress();
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, turn) =>
        signIn(turn, address, {
          email: turn % 2 ? name.toUpperCase() : name,
          password: `a guess ${turn}`,
        }),
      ),
    );
    expectTen(responses);
    expectRefused(await signIn(0, address, { email: name, password }));
  }
  const elsewhere = await patiently(() => signIn(1, newAddress(), { email, password }));
  expect(elsewhere.status).toBe(200);
});
