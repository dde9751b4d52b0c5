import { hash, randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Knex } from 'knex';
import PostalMime from 'postal-mime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMails, type Mails } from '../../src/messaging/mails/mails.ts';
import { openDatabase } from '../../src/platform/database/index.ts';
import { createNewId } from '../../src/platform/ids.ts';
import { createJobs } from '../../src/platform/jobs/index.ts';
import { createKeyring } from '../../src/platform/keyring.ts';
import { createLogger } from '../../src/platform/logger.ts';
import {
  MailRefusedError,
  MailUnavailableError,
  type Mail,
  type MailMessage,
} from '../../src/platform/mail/index.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { smtpError, startMailServer } from '../conformance/support/mail-server.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { DAY, TestClock } from '../support/clock.ts';
import { collectLog } from '../support/collected-log.ts';
import { createTestDatabase } from '../support/database.ts';
import { spawnService, temporaryFolder } from '../support/processes.ts';
import { MASTER_KEY, startTestService } from '../support/service.ts';

/** One per test. They are dropped at the end of the file. */
const databases = (await Promise.all(Array.from({ length: 13 }, () => createTestDatabase()))).values();
const newDatabase = () => databases.next().value!;

const shared = await temporaryFolder(atFileEnd);
const one = await startTestService({ DATA_DIR: shared });
const two = await startTestService({ DATA_DIR: shared, DATABASE_URL: one.databaseUrl });

let isBusy = true;
const server = await startMailServer(atFileEnd, {
  onRcptTo: (_address, _session, done) => (isBusy ? done(smtpError(451, 'Busy')) : done()),
});
const mailing = await startTestService({
  SMTP_URL: `smtp://127.0.0.1:${server.port}`,
  MAIL_FROM: 'Aurora <hello@aurora.example>',
});

const message = {
  to: 'ada@example.com',
  subject: 'Welcome',
  text: 'Open https://latchkey.example/hunter2',
  kind: 'password-reset' as const,
  linkEndsAt: null,
};

/** The mail queue of a database, with a function that sends, and its log. */
async function newMails(
  send: Mail['send'],
  { databaseUrl, masterKey = MASTER_KEY }: { databaseUrl?: string; masterKey?: string } = {},
) {
  const { logger, lines } = collectLog('trace');
  const database = await openDatabase({
    databaseUrl: databaseUrl ?? newDatabase(),
    dataDir: 'unused',
    logger: createLogger('silent'),
  });
  onTestFinished(() => database.close());
  const { knex, listen } = database;
  const keyring = createKeyring([Buffer.from(masterKey, 'base64')], systemRandom);
  const clock = new TestClock();
  const mails = createMails({
    knex,
    jobs: createJobs({ knex, listen, logger }),
    mail: { embedded: true, send, clear: async () => 0, close: async () => {} },
    limits: { take: async () => {} },
    keyring,
    clock,
    newId: createNewId(clock, systemRandom),
    logger,
  });
  return { mails, knex, lines, clock };
}

/** Sends mails until the test ends. */
async function start(mails: Mails) {
  const started = await mails.start();
  onTestFinished(() => started.stop());
  return started;
}

const enqueue = (knex: Knex, mails: Mails, ...subjects: string[]) =>
  knex.transaction(async (trx) => {
    for (const subject of subjects) await mails.enqueue(trx, { ...message, subject });
  });

interface JobRow {
  readonly state: string;
  readonly retry_count: number;
  /** Seconds until the next attempt. */
  readonly waits: number;
}

/** The mails in the queue, oldest first. */
const jobsOf = async (knex: Knex): Promise<readonly JobRow[]> => {
  const { rows } = await knex.raw<{ rows: JobRow[] }>(
    `select state::text, retry_count, extract(epoch from start_after - now())::float as waits
     from pgboss.job where name = 'mails' order by created_on`,
  );
  return rows;
};
const statesOf = async (knex: Knex) => (await jobsOf(knex)).map(({ state }) => state);
/** Makes mails that wait for a retry due. */
const hurry = (knex: Knex) =>
  knex.raw(`update pgboss.job set start_after = now() where name = 'mails' and state = 'retry'`);

test('a mail is sent when the transaction commits, and not when it is rolled back', async () => {
  const { mails } = one.services;
  const { knex } = one.database;
  const rolledBack = knex.transaction(async (trx) => {
    await mails.enqueue(trx, { ...message, subject: 'Never' });
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  await knex.transaction(async (trx) => {
    await mails.enqueue(trx, { ...message, html: '<b>Open</b>' });
    expect(await one.mailbox()).toEqual([]);
  });
  await expect.poll(one.mailbox).toHaveLength(1);
  const [mail] = await one.mailbox();
  expect(mail).toMatchObject({
    from: { name: 'Latchkey', address: 'no-reply@localhost' },
    to: [{ address: message.to }],
    subject: message.subject,
    text: `${message.text}\n`,
    html: '<b>Open</b>\n',
    messageId: expect.stringMatching(/^<mail_\w{26}@localhost>$/),
  });
  await expect.poll(() => statesOf(knex)).toEqual(['completed']);
});

test('an invalid mail is refused at once', async () => {
  const { mails, knex } = await newMails(async () => {});
  await start(mails);
  const wrong = knex.transaction((trx) =>
    mails.enqueue(trx, { ...message, subject: 'Hello\r\nBcc: eve@example.com' }),
  );
  await expect(wrong).rejects.toThrow(MailRefusedError);
});

test('before the start, mails are refused, so that none is lost', async () => {
  const { mails, knex } = await newMails(async () => {});
  await expect(enqueue(knex, mails, 'lost')).rejects.toThrow('before they are started');
});

test('a mail that is enqueued while a service ends is sent by the next one', async () => {
  const databaseUrl = newDatabase();
  const sent: string[] = [];
  const ending = await newMails(async () => expect.unreachable(), { databaseUrl });
  await (await ending.mails.start()).stop();
  await enqueue(ending.knex, ending.mails, 'late');
  const next = await newMails(async ({ subject }) => void sent.push(subject), { databaseUrl });
  await start(next.mails);
  await expect.poll(() => sent).toEqual(['late']);
});

describe('a mail that is not accepted', () => {
  test('is retried as the same mail until it is accepted', async () => {
    const tries: MailMessage[] = [];
    const { mails, knex, lines } = await newMails(async (mail) => {
      tries.push(mail);
      if (tries.length < 4) throw new MailUnavailableError('The mail server cannot be used');
    });
    await start(mails);
    await enqueue(knex, mails, 'Confidential');
    const hurried = async () => {
      await hurry(knex);
      return tries.length;
    };
    await expect.poll(hurried).toBe(4);
    await expect.poll(() => statesOf(knex)).toEqual(['completed']);
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
    const warnings = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(warnings.filter(({ level }) => level === 40)).toHaveLength(3);
    expect(lines.join('')).not.toMatch(/hunter2|ada@example|Confidential/);
  });

  test('is retried with growing delays for about a day, then given up with an error in the log', async () => {
    const { mails, knex, lines } = await newMails(async () => {
      throw new MailUnavailableError('The mail server cannot be used');
    });
    await start(mails);
    await enqueue(knex, mails, 'wrong');
    await expect.poll(() => statesOf(knex)).toEqual(['retry']);
    const { rows } = await knex.raw<{ rows: { limit: number; delay: number; longest: number }[] }>(
      `select retry_limit as limit, retry_delay as delay, retry_delay_max as longest
       from pgboss.job where name = 'mails'`,
    );
    const { limit, delay, longest } = rows[0]!;
    const hours = (least: number) =>
      // One attempt is for a process that was killed.
      Array.from({ length: limit - 1 }, (_, count) => Math.min(longest, delay * 2 ** count * least)).reduce(
        (sum, seconds) => sum + seconds,
        0,
      ) / 3600;
    expect([hours(1), hours(2)].every((total) => total > 20 && total < 30)).toBe(true);

    const hurriedTo = (tried: string) =>
      knex.raw(
        `update pgboss.job set retry_count = ${tried}, start_after = now()
         where name = 'mails' and state = 'retry' and retry_count < ${tried}`,
      );
    const late = async () => {
      await hurriedTo('15');
      return (await jobsOf(knex))[0]!.waits;
    };
    await expect.poll(late).toBeGreaterThan(3_000);
    await hurriedTo('retry_limit - 2');
    await expect.poll(() => statesOf(knex)).toEqual(['completed']);
    expect(await mails.setAside()).toBe(1);
    const errors = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(errors.filter(({ level }) => level === 50)).toMatchObject([
      { queue: 'mails' },
      { kind: 'password-reset' },
    ]);
    expect(lines.join('')).not.toContain('hunter2');
  });

  test('for good is not retried, and others are sent', async () => {
    const tries: string[] = [];
    const { mails, knex, lines } = await newMails(async ({ subject }) => {
      tries.push(subject);
      if (subject === 'bad') throw new MailRefusedError('The mail server refuses the mail (550 at RCPT TO)');
    });
    await start(mails);
    await enqueue(knex, mails, 'bad', 'good');
    await expect.poll(() => statesOf(knex)).toEqual(['completed', 'completed']);
    expect(tries.sort()).toEqual(['bad', 'good']);
    const [error] = lines.map((line) => JSON.parse(line) as object).filter((line) => 'mail_id' in line);
    expect(error).toMatchObject({ level: 50, mail_id: expect.stringMatching(/^mail_/) });
    expect(lines.join('')).not.toMatch(/hunter2|ada@example/);
  });
});

describe('a mail that could not be sent', () => {
  const LINK_MS = 3_600_000;
  const rowsOf = (knex: Knex) => knex('failed_mails').select('*');

  /** A mail that the server refuses, with a link that works for an hour by default. */
  async function newFailure(work: { isRefused: boolean }, linkEndsAt?: Date | null) {
    const sent: string[] = [];
    const made = await newMails(async ({ subject }) => {
      if (work.isRefused) throw new MailRefusedError('The mail server refuses the mail (550 at RCPT TO)');
      sent.push(subject);
    });
    const { mails, knex, clock } = made;
    await start(mails);
    const ends = linkEndsAt === undefined ? new Date(clock.now().getTime() + LINK_MS) : linkEndsAt;
    await knex.transaction((trx) => mails.enqueue(trx, { ...message, linkEndsAt: ends }));
    await expect.poll(() => rowsOf(knex)).toHaveLength(1);
    return { ...made, sent };
  }

  test('is kept sealed with its reason, and sent again when the operator requests it', async () => {
    const work = { isRefused: true };
    const { mails, knex, sent, lines } = await newFailure(work);
    expect(await mails.setAside()).toBe(1);
    const [row] = await rowsOf(knex);
    expect(row).toMatchObject({
      kind: 'password-reset',
      error: expect.stringContaining('550 at RCPT TO'),
      recipient_digest: hash('sha256', message.to, 'buffer'),
      message_sealed: expect.any(Buffer),
    });
    expect(JSON.stringify(row) + lines.join('')).not.toMatch(/hunter2|ada@example/);
    work.isRefused = false;
    await mails.maintainFailed();
    expect(await rowsOf(knex)).toHaveLength(1);
    // As documented in docs/operating.md.
    await knex('failed_mails').update({ retry: true });
    expect(await mails.maintainFailed()).toBe(1);
    await expect.poll(() => sent).toEqual([message.subject]);
    expect(await mails.setAside()).toBe(0);
  });

  test('loses its content when its link has expired, and is no longer sent', async () => {
    const { mails, knex, sent, clock } = await newFailure({ isRefused: true });
    clock.advance(LINK_MS);
    await knex('failed_mails').update({ retry: true });
    await mails.maintainFailed();
    expect(await rowsOf(knex)).toMatchObject([{ message_sealed: null, kind: 'password-reset' }]);
    expect(sent).toEqual([]);
    clock.advance(30 * DAY);
    await mails.maintainFailed();
    expect(await mails.setAside()).toBe(0);
  });

  test('is kept without its content if its link had already expired', async () => {
    const { knex } = await newFailure({ isRefused: true }, new Date('2000-01-01'));
    expect(await rowsOf(knex)).toMatchObject([{ message_sealed: null }]);
  });

  test('is kept for 30 days if it has no link', async () => {
    const { mails, knex, clock } = await newFailure({ isRefused: true }, null);
    clock.advance(29 * DAY);
    await mails.maintainFailed();
    expect(await rowsOf(knex)).toMatchObject([{ message_sealed: expect.any(Buffer), link_ends_at: null }]);
  });
});

describe('a mail in the database is sealed', () => {
  const dump = async (knex: Knex) => JSON.stringify((await knex.raw('select * from pgboss.job')).rows);

  test('while it waits, is sent, has failed and is complete', async () => {
    let take: ((error?: Error) => void) | undefined;
    const { mails, knex } = await newMails(
      () =>
        new Promise((resolve, reject) => {
          take = (error) => (error ? reject(error) : resolve());
        }),
    );
    await (await mails.start()).stop();
    await enqueue(knex, mails, 'Confidential');
    const dumps = [await dump(knex)];
    await start(mails);
    const fault = new MailUnavailableError('The mail server cannot be used');
    for (const error of [fault, undefined]) {
      await expect.poll(() => take).toBeDefined();
      await expect.poll(() => statesOf(knex)).toEqual(['active']);
      dumps.push(await dump(knex));
      take!(error);
      take = undefined;
      await expect.poll(() => statesOf(knex)).toEqual([error ? 'retry' : 'completed']);
      dumps.push(await dump(knex));
      await hurry(knex);
    }
    expect(dumps).toHaveLength(5);
    for (const each of dumps) {
      expect(each).toContain('mail_');
      expect(each).not.toMatch(/hunter2|ada@example|Confidential/);
      for (const word of ['hunter2', message.to, 'Confidential']) {
        // In base64, it can start at three positions.
        for (const before of ['', 'x', 'xx']) {
          const encoded = Buffer.from(before + word).toString('base64');
          expect(each).not.toContain(encoded.slice(before.length === 0 ? 0 : 4, -4));
        }
      }
    }
  });

  test('without its key it waits, and is sent when the key is back', async () => {
    const databaseUrl = newDatabase();
    const sent: string[] = [];
    const send = async ({ subject }: MailMessage) => void sent.push(subject);
    const before = await newMails(send, { databaseUrl });
    await (await before.mails.start()).stop();
    await enqueue(before.knex, before.mails, 'sealed');
    const wrong = await newMails(send, { databaseUrl, masterKey: randomBytes(32).toString('base64') });
    const working = await wrong.mails.start();
    await expect.poll(() => statesOf(wrong.knex)).toEqual(['retry']);
    await working.stop();
    expect(sent).toEqual([]);
    await hurry(before.knex);
    const after = await newMails(send, { databaseUrl });
    await start(after.mails);
    await expect.poll(() => sent).toEqual(['sealed']);
  });
});

describe('several services', () => {
  test('on one database send each mail once', async () => {
    const subjects = Array.from({ length: 60 }, (_, index) => `Number ${index}`);
    await Promise.all(
      subjects.map((subject, index) => {
        const { database, services } = index % 2 ? one : two;
        return enqueue(database.knex, services.mails, subject);
      }),
    );
    const { knex } = one.database;
    const open = async () => (await statesOf(knex)).filter((state) => state !== 'completed');
    await expect.poll(open).toEqual([]);
    // The clocks of the services differ, so the order of their files does, too.
    const sent = (await two.mailbox())
      .map(({ subject }) => subject!)
      .filter((subject) => /^Number/.test(subject));
    expect(sent.sort()).toEqual(subjects.sort());
  });

  test('another one sends the mails of a killed one', async () => {
    const databaseUrl = newDatabase();
    const reached = Promise.withResolvers<void>();
    const silent = await startMailServer(onTestFinished, {
      // Receives a mail, but never confirms it.
      onData: (stream) => void stream.resume().on('end', () => reached.resolve()),
    });
    const killed = await spawnService({
      DATABASE_URL: databaseUrl,
      MASTER_KEY,
      LOG_LEVEL: 'error',
      DATA_DIR: await temporaryFolder(),
      SMTP_URL: `smtp://127.0.0.1:${silent.port}`,
    });
    // Only enqueues mails.
    const { mails, knex } = await newMails(async () => expect.unreachable(), { databaseUrl });
    await (await mails.start()).stop();
    await enqueue(knex, mails, 'survives');
    await reached.promise;
    await killed.end('SIGKILL');
    expect(await statesOf(knex)).toEqual(['active']);

    const { mailbox } = await startTestService({ DATABASE_URL: databaseUrl });
    // Its last heartbeat was long ago.
    await knex.raw(
      `update pgboss.job set heartbeat_on = heartbeat_on - interval '1 minute' where name = 'mails'`,
    );
    const hurried = async () => {
      await hurry(knex);
      return mailbox();
    };
    await expect.poll(hurried, { timeout: 60_000 }).toMatchObject([{ subject: 'survives' }]);
  });
});

test('files of mails are deleted after 30 days, also by a service with a mail server', async () => {
  const folder = join(await temporaryFolder(), 'mail');
  const letter = 'a'.repeat(26);
  const name = (day: string) => `${day}T100000.000Z_mail_${letter}.eml`;
  const kept = [name('20261022'), `.${name('20261023')}`, `${name('20200101')}.txt`, 'notes.eml'];
  await mkdir(folder);
  for (const each of [...kept, name('20261021'), `.${name('20200101')}`])
    await writeFile(join(folder, each), '');
  await mkdir(join(folder, name('20200102')));
  const environment = { DATA_DIR: join(folder, '..'), SMTP_URL: `smtp://127.0.0.1:${server.port}` };
  const { services, clock } = await startTestService(environment);
  const left = async () => (await readdir(folder)).sort();
  await expect.poll(left).toEqual([...kept, name('20200102')].sort());
  clock.advance(DAY);
  await services.mails.clearOld();
  expect(await left()).toEqual([...kept.slice(1), name('20200102')].sort());
});

test('the whole service sends by a mail server once it accepts mails again', async () => {
  const { knex } = mailing.database;
  await enqueue(knex, mailing.services.mails, 'through');
  await expect.poll(() => statesOf(knex)).toEqual(['retry']);
  isBusy = false;
  await hurry(knex);
  await expect.poll(() => server.received).toHaveLength(1);
  expect(server.received[0]).toMatchObject({ from: 'hello@aurora.example', to: [message.to] });
  expect(await PostalMime.parse(server.received[0]!.content)).toMatchObject({
    from: { name: 'Aurora', address: 'hello@aurora.example' },
    subject: 'through',
  });
  expect(await mailing.mailbox()).toEqual([]);
});
