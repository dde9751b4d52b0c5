import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalLicenseKey, generateLicenseKey } from '../../../src/licensing/licenses/license-key.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { newUsername, usernameKey } from '../../../src/licensing/users/username.ts';
import { newApp, newDeveloper, newHwid, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { NAUGHTY_STRINGS, SEED } from '../support/hostile.ts';

const { api } = await startTestService();
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
const own = `/api/v2/dev/apps/${app.app_id}`;

const keyOf = (username: string): string | undefined => {
  try {
    return usernameKey(username);
  } catch {
    return undefined;
  }
};

const lookOf = (username: string): string => {
  const { username_key, username_look } = newUsername(username);
  return username_look ?? username_key;
};

/** Characters with an unusual case, width or composition. */
const TRICKY = [
  ...'aAzZ09 .-_@ıİiIſßẞσςΣµμΩΩKKÅÅéÉñÑǅǆǄﬃﬁŉǰΐᾳᾼῼΆάϐβϑθᲀᏸᏐꭰꮿՙև',
  '\u0301',
  '\u0307',
  '\u0345',
  '\u0327',
  '\u0315',
  '\u00a8',
  '\u00a0',
  '\u2003',
  '\u3000',
  '\u1e9b',
  '\ufdfa',
  '\u3392',
  '\u1100',
  '\u1161',
  '\u11a8',
  '\uac00',
  'Ａ',
  'ａ',
  '①',
  '𝔄',
  '𐐀',
  '𐐨',
  '🏳',
  '💣',
];

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...TRICKY), minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.constantFrom(...NAUGHTY_STRINGS),
);

/** A coarser equivalence than that of the keys: caseless, compatible, trimmed. */
function coarse(username: string): string {
  let now = username;
  for (let round = 0; round < 8; round++) {
    const next = now.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD').trim();
    if (next === now) return next;
    now = next;
  }
  return now;
}

describe('the key of a username', () => {
  const characters: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = code < 0xd800 || code > 0xdfff ? String.fromCodePoint(code) : undefined;
    // Unassigned and private-use characters: a sample of more than a hundred thousand.
    if (character && (code % 997 === 0 || !/[\p{Cn}\p{Co}]/u.test(character))) characters.push(character);
  }

  test('is its own key for every character', () => {
    const faults: string[] = [];
    for (const character of characters) {
      const key = keyOf(`x${character}y`);
      if (key !== undefined && keyOf(key) !== key) faults.push(character.codePointAt(0)!.toString(16));
      const alone = keyOf(character);
      if (alone !== undefined && keyOf(alone) !== alone) faults.push(character.codePointAt(0)!.toString(16));
    }
    expect(faults).toEqual([]);
  });

  test('is the same for two characters only if they differ in case, width or composition', () => {
    const byKey = new Map<string, string>();
    const faults: string[] = [];
    for (const character of characters) {
      const key = keyOf(`x${character}y`);
      if (key === undefined) continue;
      const other = byKey.get(key) ?? character;
      byKey.set(key, other);
      if (coarse(`x${other}y`) !== coarse(`x${character}y`)) faults.push(`${other} ${character}`);
    }
    expect(faults).toEqual([]);
  });

  test('is stable, and equal only for names that are equivalent', () => {
    fc.assert(
      fc.property(text, text, (one, two) => {
        const key = keyOf(one);
        if (key === undefined) return;
        expect(usernameKey(key)).toBe(key);
        for (const form of ['NFC', 'NFD'] as const) expect(usernameKey(one.normalize(form))).toBe(key);
        expect(usernameKey(` ${one}\u3000`)).toBe(key);
        if (keyOf(two) === key) expect(coarse(one)).toBe(coarse(two));
      }),
      { seed: SEED, numRuns: 3_000 },
    );
  });

  test('does not exist for a name with an invisible character', () => {
    const invisible = characters.filter(
      (character) =>
        /[\p{C}\p{Zl}\p{Zp}]/u.test(character) || /\p{Default_Ignorable_Code_Point}/u.test(character),
    );
    expect(invisible.length).toBeGreaterThan(500);
    for (const character of invisible) {
      for (const username of [`${character}ada`, `a${character}da`, `ada${character}`]) {
        expect(keyOf(username), character.codePointAt(0)!.toString(16)).toBeUndefined();
      }
    }
  });
});

describe('accepted text is returned exactly', () => {
  test('usernames and hardware identifiers, over register, login and verify', async () => {
    const taken = new Map<string, string>();
    const looks = new Set<string>();
    await fc.assert(
      fc.asyncProperty(text, text, async (username, hwid) => {
        const user = { username, password: 'a user password', hwid };
        const registered = await api.register(app.with(user));
        const key = keyOf(username);
        if (registered.status !== 201) {
          expect([400, 409]).toContain(registered.status);
          if (registered.status === 409) expect(looks.has(lookOf(username)) || taken.has(key!)).toBe(true);
          return;
        }
        expect(taken.has(key!), `${username} is a second account of ${taken.get(key!)}`).toBe(false);
        taken.set(key!, username);
        looks.add(lookOf(username));
        const { status, body } = await api.login(app.with(user));
        expect(status).toBe(200);
        expect(body.user).toMatchObject({ username, hwid });
        const verified = await api.verify({ app_id: app.app_id, token: body.token, hwid });
        expect(verified.body).toMatchObject({ valid: true, username });
      }),
      { seed: SEED, numRuns: 45, endOnFailure: true },
    );
    expect(taken.size).toBeGreaterThan(10);
  });

  test('passwords are compared in full, without normalization', async () => {
    const password = 'pässwörd\u0000 \ud83d\udca3 tail';
    const user = { username: unique('u'), password, hwid: newHwid() };
    expect((await api.register(app.with(user))).status).toBe(201);
    expect((await api.login(app.with(user))).status).toBe(200);
    const wrong = [
      password.normalize('NFD'),
      password.slice(0, 8),
      `${password} `,
      password.replace('\u0000', ''),
      password.split('\u0000')[0]!,
      password.toUpperCase(),
      password.replace('ä', 'a'),
    ];
    for (const each of wrong) {
      expect((await api.login(app.with({ ...user, password: each }))).status, each).toBe(401);
    }
    const long = 'x'.repeat(127);
    const patient = { username: unique('u'), password: `${long}1`, hwid: newHwid() };
    expect((await api.register(app.with(patient))).status).toBe(201);
    expect((await api.login(app.with({ ...patient, password: `${long}2` }))).status).toBe(401);
  });

  test('names, tiers and notes of an application', async () => {
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const named = await api.call('PATCH', own, { name: value, tiers: [value, 'Standard'] }, app);
        if (named.status === 200) {
          kept += 1;
          const { body } = await api.call('GET', own, undefined, app);
          expect(body).toMatchObject({ name: value, tiers: [value, 'Standard'] });
          expect((await api.init(app.with({}))).body['app_name']).toBe(value);
          const keys = { amount: 1, duration_days: 1, tier: value, note: value };
          const made = await api.post<{ licenses: { tier: string }[] }>(`${own}/licenses`, keys, app);
          expect(made.body.licenses[0]!.tier).toBe(value);
        } else expect(named.status).toBe(400);

        const keys = { amount: 1, duration_days: 1, tier: 'Standard', note: value };
        const made = await api.post(`${own}/licenses`, keys, app);
        if (made.status !== 201) {
          expect(made.status).toBe(400);
          return;
        }
        const listed = await api.call<{ data: { note: string }[] }>(
          'GET',
          `${own}/licenses?limit=1`,
          undefined,
          app,
        );
        expect(listed.body.data[0]!.note).toBe(value);
      }),
      { seed: SEED, numRuns: 60, endOnFailure: true },
    );
    expect(kept).toBeGreaterThan(15);
  });

  test('an accepted minimum version takes effect', async () => {
    const versions = [
      '1',
      '1.2',
      '1.2.3',
      '1.0.0-01',
      '1.0.0-0.00',
      '1.0.0+..',
      '1.0.0+a.',
      '1-alpha',
      '1.0.0--',
      '1.0.0+-',
    ];
    const idle: string[] = [];
    for (const minimum_version of versions) {
      const { status } = await api.call('PATCH', own, { minimum_version }, app);
      if (status === 400) continue;
      const { body } = await api.init(app.with({ version: '0.0.1' }));
      if (body['status_code'] !== 'update_required') idle.push(minimum_version);
    }
    await app.patch({ minimum_version: null });
    expect(idle, 'accepted, but without effect').toEqual([]);
  });
});

describe('equality of different inputs', () => {
  test('an equivalent username is the same account in all operations', async () => {
    for (const [first, second] of [
      ['Straße', 'STRASSE'],
      ['ﬁnn', 'FINN'],
      ['é', 'e\u0301'],
      ['Ω', 'Ω'],
      ['Ａda', ' ada '],
    ] as const) {
      const other = await newApp(api, developer);
      const user = { username: first, password: 'a user password', hwid: newHwid() };
      expect((await api.register(other.with(user))).status).toBe(201);
      expect((await api.register(other.with({ ...user, username: second }))).status).toBe(409);
      const { status, body } = await api.login(other.with({ ...user, username: second }));
      expect({ status, username: body.user?.username }).toEqual({ status: 200, username: first });
    }
  });

  test('hwids are compared in full', async () => {
    const hwid = `${newHwid()} é`;
    const user = { username: unique('u'), password: 'a user password', hwid };
    await api.register(app.with(user));
    const { body } = await api.login(app.with(user));
    for (const other of [
      hwid.normalize('NFD'),
      hwid.toUpperCase(),
      `${hwid} `,
      ` ${hwid}`,
      hwid.slice(0, -1),
    ]) {
      const verified = await api.verify({ app_id: app.app_id, token: body.token, hwid: other });
      expect(verified.body.code, other).toBe('HWID_MISMATCH');
      expect((await api.login(app.with({ ...user, hwid: other }))).status).toBe(403);
    }
  });

  test("a developer's email address is accepted once, regardless of case, and never with look-alikes", async () => {
    const account = { email: `Kelvin.${unique('d')}@Example.com`, password: 'a developer password' };
    expect((await api.post('/api/v2/dev/register', account)).status).toBe(201);
    const upper = { ...account, email: account.email.toUpperCase() };
    expect((await api.post('/api/v2/dev/register', upper)).status).toBe(409);
    expect((await api.post('/api/v2/dev/login', upper)).status).toBe(200);
    for (const [plain, odd] of [
      ['K', '\u212a'],
      ['i', '\u0131'],
      ['e', '\uff45'],
      ['.', '\u3002'],
    ] as const) {
      const email = account.email.replace(plain, odd);
      expect((await api.post('/api/v2/dev/register', { ...account, email })).status, odd).toBe(400);
      expect((await api.post('/api/v2/dev/login', { ...account, email })).status, odd).toBe(400);
    }
  });

  test('a license key can be written in the documented ways only', async () => {
    const canonical = canonicalLicenseKey(generateLicenseKey(systemRandom))!;
    const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    /** Whether some key begins with this text, read as `length` characters of a key. */
    const isRead = (text: string, length: number) =>
      [...letters].some((check) => canonicalLicenseKey(text + '0'.repeat(24 - length) + check) !== undefined);
    for (const [written, meant] of ['O0', 'o0', 'I1', 'i1', 'L1', 'l1', 'aA', 'zZ', '77'].map((pair) => [
      ...pair,
    ])) {
      const rest = canonical.slice(1, 24);
      const key = [...letters].map((check) => canonicalLicenseKey(meant + rest + check)).find(Boolean);
      expect(key).toBeDefined();
      expect(canonicalLicenseKey(written + rest + key!.at(-1))).toBe(key);
    }
    const faults: string[] = [];
    for (let code = 0x80; code <= 0xffff; code++) {
      const character = String.fromCharCode(code);
      // A character that no folding turns into a letter cannot be read as one.
      const forms = [character.toUpperCase(), character.normalize('NFKD').toUpperCase()];
      if (!forms.some((form) => /[0-9A-Z]/.test(form))) continue;
      if ([1, 2, 3].some((length) => isRead(character, length))) faults.push(`U+${code.toString(16)}`);
    }
    expect(canonicalLicenseKey(canonical.toLowerCase())).toBe(canonical);
    expect(faults, 'characters that are read as a letter of a key').toEqual([]);
  });

  test('a key with a look-alike is unknown', async () => {
    await app.patch({ tiers: ['Standard', 'Pro', 'VIP'] });
    const user = { username: unique('u'), password: 'a user password', hwid: newHwid() };
    await api.register(app.with(user));
    const keys = await app.keys(250);
    const key = keys.find((each) => each.includes('S') && !each.includes('0'))?.replace('S', 'ſ');
    expect(key).toBeDefined();
    const { status } = await api.activate(app.with({ username: user.username, license_key: key! }));
    expect(status).toBe(404);
  });
});
