import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  isUnavailable,
  isUniqueViolation,
  isUnstorableInput,
  openDatabase,
  type Database,
} from '../../../src/platform/database/index.ts';
import { remove, temporaryFolder } from './support/processes.ts';

const logger = pino({ enabled: false });
const folder = temporaryFolder();
let database: Database;

beforeAll(async () => {
  database = await openDatabase({ dataDir: join(folder, 'data'), logger, settings: { fsync: 'off' } });
  await database.knex.schema.createTable('thing', (table) => {
    table.integer('id').primary();
    table.text('name').unique('thing_name_unique');
  });
});
afterAll(async () => {
  await database.close();
  remove(folder);
});

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('values', () => {
  it('are JavaScript values on both interfaces', async () => {
    const sql = `SELECT 9007199254740991::bigint AS big, ARRAY[1,NULL]::bigint[] AS bigs,
      '2026-01-02 03:04:05.678+00'::timestamptz AS moment,
      'infinity'::timestamptz AS never, ARRAY['-infinity'::timestamptz] AS ever`;
    const expected = {
      big: Number.MAX_SAFE_INTEGER,
      bigs: [1, null],
      moment: new Date('2026-01-02T03:04:05.678Z'),
      never: new Date(8.64e15),
      ever: [new Date(-8.64e15)],
    };
    expect((await database.pool.query(sql)).rows).toEqual([expected]);
    expect(((await database.knex.raw(sql)) as { rows: unknown[] }).rows).toEqual([expected]);
  });

  it('refuse a bigint that a number cannot hold', async () => {
    await expect(database.pool.query('SELECT 9007199254740993::bigint')).rejects.toThrow(/beyond 2\^53/);
    await database.ping();
  });
});

describe('errors', () => {
  it('identify a duplicate row', async () => {
    await database.knex('thing').insert({ id: 1, name: 'a' });
    const error = await failure(database.knex('thing').insert({ id: 2, name: 'a' }));
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'thing_name_unique')).toBe(true);
    expect(isUniqueViolation(error, 'thing_pkey')).toBe(false);
    expect(isUnavailable(error)).toBe(false);
  });

  it.each([
    ['NUL', { name: 'a\0b' }],
    ['2^31', { id: 2 ** 31 }],
    ['NaN', { id: Number.NaN }],
  ])('identify a value that cannot be stored: %s', async (_name, row) => {
    const error = await failure(database.knex('thing').insert({ id: 3, ...row }));
    expect(isUnstorableInput(error)).toBe(true);
    expect(isUnavailable(error)).toBe(false);
  });

  it('keep the values of a statement to themselves', async () => {
    const error = await failure(database.knex('nowhere').where({ secret: 'hunter2' }));
    expect((error as Error).message).not.toContain('hunter2');
    expect(isUnavailable(error)).toBe(false);
  });

  it('identify a lost database, even within other errors', () => {
    const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
    expect(isUnavailable(new AggregateError([refused]))).toBe(true);
    expect(isUnavailable(new Error('outer', { cause: refused }))).toBe(true);
    expect(isUnavailable(new Error('select 1 - Query read timeout'))).toBe(true);
    expect(isUnavailable(new Error("select 'timeout expired' - no such table"))).toBe(false);
    for (const nothing of [undefined, null, 'ECONNREFUSED', new Error('Connection')])
      expect(isUnavailable(nothing)).toBe(false);
  });
});

describe('a database server by its address', () => {
  const openServer = (databaseUrl: string) => openDatabase({ databaseUrl, dataDir: folder, logger });

  it('works like the embedded one', async () => {
    const { host, user } = (database.pool as unknown as { options: { host: string; user: string } }).options;
    const server = await openServer(`postgresql://${user}@/latchkey?host=${encodeURIComponent(host)}`);
    expect(server.embedded).toBe(false);
    await server.ping();
    await database.knex('thing').insert({ id: 7, name: 'seven' });
    expect(await server.knex('thing').where({ id: 7 })).toEqual([{ id: 7, name: 'seven' }]);
    await server.close();
    await database.ping();
  });

  it('reports the fault in one line, without the password', async () => {
    const refused = await failure(openServer('postgresql://me:hunter2@127.0.0.1:1/latchkey'));
    expect(refused).toMatchObject({ name: 'StartupError' });
    expect(String(refused)).toMatch(/DATABASE_URL \(127\.0\.0\.1:1, database latchkey\).*ECONNREFUSED/);
    expect(String(refused)).not.toContain('hunter2');

    for (const url of ['mysql://me:hunter2@host/db', 'postgres://me:hunter2@ho st:port/db', 'hunter2']) {
      const invalid = await failure(openServer(url));
      expect(invalid).toMatchObject({ name: 'StartupError' });
      expect(String(invalid)).toContain('DATABASE_URL');
      expect(String(invalid)).not.toContain('hunter2');
    }
  });

  it('reports a server that is too old', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        const message = (type: string, body: Buffer) => {
          const head = Buffer.alloc(5, type);
          head.writeInt32BE(body.length + 4, 1);
          return Buffer.concat([head, body]);
        };
        const ready = message('Z', Buffer.from('I'));
        socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]));
        socket.once('data', () => {
          const name = Buffer.from('server_version_num\0');
          const column = Buffer.concat([
            Buffer.from([0, 1]),
            name,
            Buffer.alloc(6),
            Buffer.from([0, 0, 0, 25, 255, 255]),
            Buffer.from([255, 255, 255, 255, 0, 0]),
          ]);
          const row = Buffer.concat([Buffer.from([0, 1, 0, 0, 0, 6]), Buffer.from('130012')]);
          socket.write(
            Buffer.concat([
              message('T', column),
              message('D', row),
              message('C', Buffer.from('SHOW\0')),
              ready,
            ]),
          );
        });
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(openServer(`postgresql://me@127.0.0.1:${port}/latchkey`)).rejects.toThrow(
      'The database in DATABASE_URL is PostgreSQL 13; Latchkey requires 14 or later.',
    );
    server.close();
  });
});
