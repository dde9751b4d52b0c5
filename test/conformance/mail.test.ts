import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import PostalMime, { type Email } from 'postal-mime';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  MailRefusedError,
  MailUnavailableError,
  openMail,
  type Mail,
  type MailSettings,
} from '../../src/platform/mail/index.ts';
import { defaultMailbox, isMailAddress } from '../../src/platform/mail/mailbox.ts';
import { parseSmtpUrl } from '../../src/platform/mail/smtp-address.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { StartupError } from '../../src/platform/startup-error.ts';
import { TestClock } from '../support/clock.ts';
import { collectLog } from '../support/collected-log.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder, type AtEnd } from '../support/processes.ts';
import { readMails } from '../support/service.ts';
import { makeCertificate } from './support/certificate.ts';
import { smtpError, startMailServer } from './support/mail-server.ts';

const FROM = { name: 'Łatchkey, of "Gdańsk"', address: 'no-reply@latchkey.example' };
const SECRET = 'https://latchkey.example/claim/hunter2';
const message = { to: 'ada@example.com', subject: 'Your claim', text: `Open ${SECRET}` };

async function open(settings: Partial<MailSettings>, atEnd: AtEnd = onTestFinished) {
  const clock = new TestClock();
  const { logger, lines } = collectLog('trace');
  const mail = await openMail(
    { smtpUrl: undefined, folder: 'unused', from: () => FROM, ...settings },
    { clock, random: systemRandom, logger },
  );
  atEnd(() => mail.close());
  return { mail, clock, lines };
}

const smtp = (port: number, user = '') => `smtp://${user}127.0.0.1:${port}`;

/** The two ways to send mail, with the mails that arrived. */
interface Way {
  readonly mail: Mail;
  readonly lines: readonly string[];
  /** The contents in the order in which they were sent. */
  contents(): Promise<readonly Buffer[]>;
}

const ways: readonly [string, boolean, () => Promise<Way>][] = [
  [
    'a folder',
    true,
    async () => {
      const folder = join(await temporaryFolder(afterAll), 'data', 'mail');
      const contents = async () => {
        const names = (await readdir(folder)).sort();
        return Promise.all(names.map((name) => readFile(join(folder, name))));
      };
      return { ...(await open({ folder }, afterAll)), contents };
    },
  ],
  [
    'an SMTP server',
    false,
    async () => {
      const server = await startMailServer(afterAll);
      const contents = async () => server.received.map(({ content }) => content);
      return { ...(await open({ smtpUrl: smtp(server.port) }, afterAll)), contents };
    },
  ],
];

describe.each(ways)('mail: %s', async (_title, embedded, openWay) => {
  const { mail, lines, contents } = await openWay();
  const last = async (): Promise<Email> => PostalMime.parse((await contents()).at(-1)!);

  test('says whether it is a folder', () => {
    expect(mail.embedded).toBe(embedded);
  });

  test('a mail arrives with all its fields, and no more', async () => {
    await mail.send({ ...message, html: `<a href="${SECRET}">Open</a>`, id: 'mail_1' });
    const { headers, ...arrived } = await last();
    expect(arrived).toMatchObject({
      from: FROM,
      to: [{ address: message.to }],
      subject: message.subject,
      text: `${message.text}\n`,
      html: `<a href="${SECRET}">Open</a>\n`,
      date: '2026-11-21T10:00:00.000Z',
      messageId: '<mail_1@latchkey.example>',
      attachments: [],
    });
    const names = headers.map(({ key }) => key).filter((key) => !/^(content-type|received)$/.test(key));
    expect(names.sort()).toEqual([
      'auto-submitted',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ]);
  });

  test.each([
    ['other scripts', 'Zażółć gęślą jaźń 鍵 🔑', 'Zażółć 鍵 🔑 ё\n'],
    ['a long subject', 'wörd '.repeat(80).trim(), 'short\n'],
    ['long lines', 'Long', `${'x'.repeat(5_000)}\n${'ü'.repeat(5_000)}\n`],
    ['dots at the beginning of lines', 'Dots', '.\n..\n.hidden\n\n.\nafter\n'],
    ['text that looks like headers', 'Bcc: eve@example.com', 'Bcc: eve@example.com\n\nFrom unknown\n'],
    ['lines of all kinds', 'Lines', 'one\r\ntwo\nthree\n'],
    ['nothing', '', '\n'],
  ])('%s', async (_what, subject, text) => {
    await mail.send({ to: message.to, subject, text });
    const arrived = await last();
    expect(arrived.subject ?? '').toBe(subject);
    expect(arrived.text).toBe(text.replaceAll('\r\n', '\n') + (text.endsWith('\n') ? '' : '\n'));
    expect(arrived.to).toEqual([{ name: '', address: message.to }]);
    expect(arrived.bcc).toBeUndefined();
    const raw = (await contents()).at(-1)!.toString('latin1');
    expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
  });

  test.each(['ada@bücher.example', "o'brien+tag@sub.example.co.uk", 'łukasz@example.com'])(
    'the address %s',
    async (to) => {
      await mail.send({ ...message, to });
      const [recipient] = (await last()).to!;
      expect(recipient!.address!.replace('xn--bcher-kva', 'bücher')).toBe(to);
    },
  );

  test('many at once', async () => {
    const before = (await contents()).length;
    const subjects = Array.from({ length: 30 }, (_, index) => `Number ${index}`);
    await Promise.all(subjects.map((subject) => mail.send({ ...message, subject })));
    const arrived = await Promise.all((await contents()).slice(before).map((each) => PostalMime.parse(each)));
    expect(arrived.map(({ subject }) => subject).sort()).toEqual([...subjects].sort());
    expect(new Set(arrived.map(({ messageId }) => messageId)).size).toBe(30);
  });

  test.each([
    ['no address', { to: 'ada' }],
    ['no recipient', { to: '' }],
    ['two addresses', { to: 'ada@example.com, eve@example.com' }],
    ['two addresses without a blank', { to: 'ada@example.com,eve@example.com' }],
    ['a name with it', { to: 'Ada <ada@example.com>' }],
    ['brackets', { to: '<ada@example.com>' }],
    ['a group', { to: 'all:ada@example.com;' }],
    ['CR and LF in the address', { to: 'ada@example.com\r\nBcc: eve@example.com' }],
    ['LF in the local part', { to: 'ada\nBcc:eve@example.com' }],
    ['a command in the address', { to: 'ada@example.com>\r\nDATA\r\n' }],
    ['NUL in the address', { to: 'ada\0@example.com' }],
    ['a quoted local part', { to: '"ada eve"@example.com' }],
    ['a blank in it', { to: 'ada @example.com' }],
    ['a route', { to: '@eve.example:ada@example.com' }],
    ['another address inside', { to: 'ada@eve.example@example.com' }],
    ['CR and LF in the subject', { subject: 'Hello\r\nBcc: eve@example.com' }],
    ['CR in the subject', { subject: 'Hello\rBcc: eve@example.com' }],
    ['LF in the subject', { subject: 'Hello\nBcc: eve@example.com' }],
    ['NUL in the subject', { subject: 'Hello\0' }],
    ['a line separator in the subject', { subject: 'Hello\u2028Bcc: eve@example.com' }],
    ['half a character in the subject', { subject: 'Hello \ud83d' }],
    ['a long subject', { subject: 'x'.repeat(501) }],
    ['CR and LF in the id', { id: 'mail_1>\r\nBcc: eve@example.com' }],
  ])('is refused with %s, for good', async (_what, fault) => {
    const before = (await contents()).length;
    await expect(mail.send({ ...message, ...fault })).rejects.toThrow(MailRefusedError);
    expect(await contents()).toHaveLength(before);
  });

  test('an aborted mail is not sent', async () => {
    const before = (await contents()).length;
    await expect(mail.send(message, AbortSignal.abort())).rejects.toThrow();
    expect(await contents()).toHaveLength(before);
  });

  test('no content is in the log', () => {
    expect(lines.join('')).not.toContain('hunter2');
    expect(lines.filter((line) => line.includes(message.to)).length > 0).toBe(embedded);
  });

  test('can be closed repeatedly', async () => {
    await mail.close();
    await mail.close();
  });
});

describe('a folder', () => {
  test('has one file per mail, readable by its owner only, in order, and logs it', async () => {
    const folder = join(await temporaryFolder(), 'mail');
    const { mail, clock, lines } = await open({ folder });
    const subjects = Array.from({ length: 12 }, (_, index) => `Number ${index}`);
    for (const subject of subjects) {
      await mail.send({ ...message, subject });
      // Several mails in the same millisecond.
      if (subject.endsWith('5')) clock.advance(1);
    }
    expect((await readMails(folder)).map(({ subject }) => subject)).toEqual(subjects);
    const names = (await readdir(folder)).sort();
    for (const name of names) {
      expect(name).toMatch(/^20261121T100000\.00[01]Z_mail_\w{26}\.eml$/);
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged.map(({ level, to, subject, path }) => ({ level, to, subject, path }))).toEqual(
      subjects.map((subject, index) => ({
        level: 30,
        to: message.to,
        subject,
        path: join(folder, names[index]!),
      })),
    );
  });

  test('is cleared of mails before a time in batches, if the folder exists', async () => {
    const folder = join(await temporaryFolder(), 'mail');
    const { mail, clock } = await open({ folder });
    expect(await mail.clear(clock.now(), 10)).toBe(0);
    for (let count = 0; count < 3; count += 1) await mail.send({ ...message, subject: 'old' });
    clock.advance(1);
    await mail.send({ ...message, subject: 'new' });
    expect(await mail.clear(clock.now(), 2)).toBe(2);
    expect(await mail.clear(clock.now(), 2)).toBe(1);
    expect(await mail.clear(clock.now(), 2)).toBe(0);
    expect((await readMails(folder)).map(({ subject }) => subject)).toEqual(['new']);
  });

  test('that cannot be written to can be retried, and leaves nothing behind', async () => {
    const folder = join(await temporaryFolder(), 'mail');
    await writeFile(folder, 'in its place');
    const { mail, lines } = await open({ folder });
    await expect(mail.send(message)).rejects.toThrow(MailUnavailableError);
    expect(lines).toEqual([]);
  });
});

describe('an SMTP server', () => {
  /** @returns the error, which contains nothing of the mail or the credentials */
  async function failure(mail: Mail): Promise<Error> {
    const error = await mail.send(message).then(
      () => undefined,
      (reason: unknown) => reason as Error,
    );
    expect(error).toBeInstanceOf(Error);
    const { name, message: text, stack, cause } = error!;
    expect(`${name} ${text} ${stack}`).not.toMatch(/hunter2|ada@example/);
    expect(cause).toBeUndefined();
    return error!;
  }

  test('that refuses the recipient is not retried', async () => {
    const server = await startMailServer(onTestFinished, {
      onRcptTo: ({ address }, _, done) => done(smtpError(550, `No such user: ${address}`)),
    });
    const { mail } = await open({ smtpUrl: smtp(server.port) });
    const error = await failure(mail);
    expect(error).toBeInstanceOf(MailRefusedError);
    expect(error.message).toContain('550 at RCPT TO');
  });

  test('that refuses the content, and quotes it, is not retried', async () => {
    const server = await startMailServer(onTestFinished, {
      onData: (stream, _, done) => {
        stream.resume().on('end', () => done(smtpError(554, `Blocked: ${SECRET}`)));
      },
    });
    const { mail } = await open({ smtpUrl: smtp(server.port) });
    expect(await failure(mail)).toBeInstanceOf(MailRefusedError);
  });

  test.each([450, 421, 452, 530])('that returns %i for the recipient is retried', async (code) => {
    const server = await startMailServer(onTestFinished, {
      onRcptTo: (_address, _session, done) => done(smtpError(code, 'Not now: ada@example.com')),
    });
    const { mail } = await open({ smtpUrl: smtp(server.port) });
    expect(await failure(mail)).toBeInstanceOf(MailUnavailableError);
  });

  test('that refuses the sender is retried, because MAIL_FROM may be corrected', async () => {
    const server = await startMailServer(onTestFinished, {
      onMailFrom: (_address, _session, done) => done(smtpError(553, 'Not yours')),
    });
    const { mail } = await open({ smtpUrl: smtp(server.port) });
    const error = await failure(mail);
    expect(error).toBeInstanceOf(MailUnavailableError);
    expect(error.message).toContain('Not yours');
  });

  test('that is unavailable, then available again', async () => {
    const port = await freePort();
    const { mail } = await open({ smtpUrl: smtp(port) });
    expect(await failure(mail)).toBeInstanceOf(MailUnavailableError);
    const first = await startMailServer(onTestFinished, {}, port);
    await mail.send(message);
    await first.close();
    expect(await failure(mail)).toBeInstanceOf(MailUnavailableError);
    const second = await startMailServer(onTestFinished, {}, port);
    await mail.send(message);
    expect([first.received.length, second.received.length]).toEqual([1, 1]);
  });

  test('that hangs: closing ends mails in progress', async () => {
    const server = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { mail } = await open({ smtpUrl: smtp((server.address() as AddressInfo).port) });
    const connected = once(server, 'connection');
    const failing = failure(mail);
    await connected;
    await mail.close();
    expect(await failing).toBeInstanceOf(MailUnavailableError);
    expect(await failure(mail)).toBeInstanceOf(MailUnavailableError);
  });

  test('requires a login: a wrong password is retried', async () => {
    const server = await startMailServer(onTestFinished, {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        username === 'me@latchkey' && password === 'p/w:1'
          ? done(null, { user: username })
          : done(smtpError(535, 'Authentication failed')),
    });
    const right = await open({ smtpUrl: smtp(server.port, 'me%40latchkey:p%2Fw%3A1@') });
    await right.mail.send(message);
    expect(server.received.map(({ user, from, to }) => ({ user, from, to }))).toEqual([
      { user: 'me@latchkey', from: FROM.address, to: [message.to] },
    ]);
    for (const user of ['me%40latchkey:hunter2@', '']) {
      const { mail } = await open({ smtpUrl: smtp(server.port, user) });
      expect(await failure(mail)).toBeInstanceOf(MailUnavailableError);
    }
    expect(server.received).toHaveLength(1);
  });

  describe('over TLS', () => {
    const certificate = makeCertificate();
    const authorities = getCACertificates();
    afterEach(() => setDefaultCACertificates(authorities));

    test.each([
      ['from the beginning', { ...certificate, secure: true }, 'smtps'],
      ['by STARTTLS', { ...certificate, disabledCommands: [] }, 'smtp'],
    ])('%s, with a certificate of an unknown authority', async (_when, options, protocol) => {
      const server = await startMailServer(onTestFinished, options);
      const { mail } = await open({ smtpUrl: `${protocol}://localhost:${server.port}` });
      expect(await failure(mail)).toBeInstanceOf(MailUnavailableError);
      expect(server.received).toEqual([]);
      setDefaultCACertificates([certificate.cert]);
      await mail.send(message);
      expect(server.received.map(({ secure }) => secure)).toEqual([true]);
    });
  });
});

describe('SMTP_URL', () => {
  test.each([
    ['smtp://mail.example', { tls: false, needsTls: false, host: 'mail.example', port: 587 }],
    ['smtps://mail.example', { tls: true, needsTls: false, port: 465 }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525 }],
    ['smtp://me:pw@mail.example:25', { needsTls: true, port: 25, credentials: { user: 'me', pass: 'pw' } }],
    ['smtp://me:p%40%2F@localhost', { needsTls: false, credentials: { user: 'me', pass: 'p@/' } }],
  ])('%s', (url, expected) => {
    expect(parseSmtpUrl(url)).toMatchObject(expected);
  });

  test.each([
    'hunter2',
    'http://me:hunter2@mail.example',
    'smtp://',
    'smtp://hunter2@mail.example',
    'smtp://:hunter2@mail.example',
    'smtp://me:hunter2%zz@mail.example',
    'smtp://me:hunter2@mail.example/path',
    'smtp://me:hunter2@mail.example?tls=off',
    'smtp://me:hunter2@mail.example#a',
    'smtp://me:hunter2@mail.example:port',
  ])('%s is refused in one line that does not show the password', (url) => {
    expect(() => parseSmtpUrl(url)).toThrow(StartupError);
    expect(() => parseSmtpUrl(url)).toThrow(/^SMTP_URL (?!.*(hunter2|\n))/);
  });
});

test.each([
  ['https://latchkey.example/app', 'no-reply@latchkey.example'],
  ['http://127.0.0.1:3000', 'no-reply@localhost'],
  ['http://[::1]:3000', 'no-reply@localhost'],
  ['http://localhost:3000', 'no-reply@localhost'],
  ['https://bücher.example', 'no-reply@xn--bcher-kva.example'],
])('mails of %s are from %s', (url, address) => {
  expect(defaultMailbox(url)).toEqual({ name: 'Latchkey', address });
  expect(isMailAddress(address)).toBe(true);
});

test.each([
  'example.com/a',
  'example.com?a',
  'example.com#, eve',
  'example.com\\a',
  'exa%6dple.com',
  'exam\u00adple.com',
  'exam\ufe0fple.com',
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
])('%j is not a domain of an address', (domain) => {
  expect(isMailAddress(`ada@${domain}`)).toBe(false);
});

test.each(['example.com', 'Example.COM', 'faß.de', 'Bücher.example', 'xn--bcher-kva.example', 'localhost'])(
  '%j is a domain of an address',
  (domain) => {
    expect(isMailAddress(`ada@${domain}`)).toBe(true);
  },
);

test('a link in the file of a mail is in one piece', async () => {
  const folder = await temporaryFolder();
  const { mail } = await open({ folder });
  const link = `https://a-host-with-a-long-name.latchkey.example:8443/agent/claim/${'x'.repeat(43)}`;
  const text = `Open this page:\n\n${link}\n\n${'Long lines stay too. '.repeat(20)}\nAda`;
  await mail.send({ ...message, text });
  const [name] = await readdir(folder);
  const content = await readFile(join(folder, name!), 'utf8');
  expect(content).toContain(`\r\n${link}\r\n`);
  expect((await PostalMime.parse(content)).text).toBe(`${text}\n`);
  // Text that is not ASCII or too long for a line is still encoded.
  for (const odd of [`Zoë ${link}`, 'x'.repeat(999)]) {
    await mail.send({ ...message, text: odd });
    const names = (await readdir(folder)).sort();
    const parsed = await PostalMime.parse(await readFile(join(folder, names.at(-1)!)));
    expect(parsed.text).toBe(`${odd}\n`);
  }
});
