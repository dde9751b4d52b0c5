import createKnex, { type Knex } from 'knex';
import { expect, onTestFinished, test } from 'vitest';
import type { NumberedRow } from '../../src/foundation/events/event-row.ts';
import { createOutbox, type Consume } from '../../src/foundation/events/outbox.ts';
import {
  listEventsOfApplication,
  listEventsOfSession,
  readEventsAfter,
  readEventsOfApplication,
} from '../../src/foundation/events/event-store.ts';
import { countSetAside } from '../../src/foundation/events/outbox-store.ts';
import { toPublished } from '../../src/foundation/events/published-event.ts';
import { isUnavailable } from '../../src/platform/database/index.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { typeParsers } from '../../src/platform/database/type-parsers.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';

const AT_ONCE = 500;

interface Node {
  readonly knex: Knex;
  /** Numbers events like the relay until it would pause. @returns the number of rounds */
  untilItPauses(consume?: Consume): Promise<number>;
}

/** A database, and nodes that number its events. */
async function newOutbox() {
  const connectionString = await createTestDatabase();
  const database = await connectTo(connectionString);
  await database.query('create table consumed (event_id text, position bigint)');

  function newNode(): Node {
    const knex = createKnex({
      client: 'pg',
      connection: { connectionString, types: typeParsers as never },
      pool: { min: 0, max: 2 },
      // Silences connections that the tests end.
      log: { warn() {}, error() {} },
    });
    onTestFinished(() => knex.destroy());
    const outbox = createOutbox({ knex, logger: createLogger('silent') });
    const nothing: Consume = async () => {};
    return {
      knex,
      async untilItPauses(consume = nothing) {
        let rounds = 0;
        for (let more = true; more; rounds += 1) {
          if (rounds > 1_000) throw new Error('it does not end');
          const before: Consume = async (trx, events) => {
            await trx('consumed').insert(
              events.map(({ eventId, position }) => ({ event_id: eventId, position })),
            );
            await consume(trx, events);
          };
          ({ more } = await outbox.number(before, AT_ONCE));
        }
        return rounds;
      },
    };
  }

  /** Writes events of an application, whose ids show their order. */
  async function write(amount: number, app = 'app_a', data = '{}') {
    await database.query(
      `insert into events (event_id, app_id, type, data, created_at)
       select 'evt_' || $2 || '_' || lpad(n::text, 5, '0'), $2, 'application.updated', $3::jsonb, now()
       from generate_series(1, $1::int) n order by n`,
      [amount, app, data],
    );
  }

  return {
    url: connectionString,
    database,
    newNode,
    write,
    /** Writes events that are longer than a page of the database, which then loses the data of the first one. */
    async writeAndLose(amount: number, app: string) {
      await database.query('alter table events alter data set storage external');
      await database.query('create extension pg_surgery');
      await write(amount, app, JSON.stringify({ text: 'x'.repeat(5000) }));
      const [{ toast }] = (
        await database.query<{ toast: string }>(
          `select reltoastrelid::regclass::text as toast from pg_class where relname = 'events'`,
        )
      ).rows as [{ toast: string }];
      const { rows: lost } = await database.query<{ ctid: string }>(
        `select ctid from ${toast} where chunk_id = (select min(chunk_id) from ${toast})`,
      );
      await database.query('select heap_force_kill($1::regclass, $2::tid[])', [
        toast,
        lost.map(({ ctid }) => ctid),
      ]);
    },
    damage: (place: number, change: string) =>
      database.query(`update events set ${change} where event_id = 'evt_app_a_' || lpad($1::text, 5, '0')`, [
        place,
      ]),
    published: async () =>
      (
        await database.query<{ event_id: string; position: string }>(
          'select event_id, position from events where position is not null order by position',
        )
      ).rows,
    consumed: async () =>
      (await database.query<{ event_id: string }>('select event_id from consumed order by position')).rows,
    isWaiting: async () =>
      (await database.query('select from events where position is null and fault is null limit 1'))
        .rowCount !== 0,
    aside: async () =>
      (
        await database.query<{ event_id: string; fault: string }>(
          'select event_id, fault from events where fault is not null',
        )
      ).rows,
  };
}

/** Ignores failures that a test causes, and no others. */
function unlessUnavailable(error: unknown): void {
  if (!isUnavailable(error)) throw error;
}

type Outbox = Awaited<ReturnType<typeof newOutbox>>;

/** Every event except some is published and consumed once, in the order of writing, with positions without gaps. */
async function expectPublished(outbox: Outbox, amount: number): Promise<void> {
  const published = await outbox.published();
  expect(published).toHaveLength(amount);
  expect(published.map(({ position }) => Number(position))).toEqual(published.map((_, place) => place + 1));
  const ids = published.map(({ event_id }) => event_id);
  expect((await outbox.consumed()).map(({ event_id }) => event_id)).toEqual(ids);
  for (const app of ['app_a', 'app_b']) {
    const own = ids.filter((id) => id.includes(app));
    expect(own).toEqual(own.toSorted());
  }
}

test.each([
  ['its columns', "data = 'null'", /data is not an object/],
  ['what a consumer computes of it', `data = '{"amount": 1e300}'`, /22003/],
])('a damaged event at the end of a batch does not delay those around it: %s', async (_, change, fault) => {
  const outbox = await newOutbox();
  await outbox.write(AT_ONCE + 20);
  await outbox.damage(AT_ONCE - 1, change);
  await outbox.newNode().untilItPauses(async (trx, events) => {
    const amounts = events.flatMap(({ data }) => data['amount'] ?? []);
    for (const amount of amounts) await trx.raw('select ?::numeric::bigint', [amount as number]);
  });
  await expectPublished(outbox, AT_ONCE + 19);
  expect(await outbox.aside()).toEqual([
    { event_id: 'evt_app_a_00499', fault: expect.stringMatching(fault) },
  ]);
});

test('many damaged events do not delay the others', async () => {
  const outbox = await newOutbox();
  await outbox.write(300);
  await outbox.database.query(`update events set type = '' where sequence % 3 > 0`);
  await outbox.newNode().untilItPauses();
  await expectPublished(outbox, 100);
  expect(await outbox.aside()).toHaveLength(200);
});

test('damaged events that cannot be set aside in one transaction are set aside in several', async () => {
  const outbox = await newOutbox();
  // Like a transaction that takes too long.
  await outbox.database.query(
    `create function end_long() returns trigger language plpgsql as $$
     declare amount int := coalesce(nullif(current_setting('test.amount', true), ''), '0')::int + 1;
     begin
       perform set_config('test.amount', amount::text, true);
       if amount > 8 then perform pg_terminate_backend(pg_backend_pid()); end if;
       return new;
     end $$;
     create trigger end_long before update of fault on events for each row execute function end_long()`,
  );
  await outbox.write(90);
  await outbox.database.query(`update events set type = '' where sequence % 3 > 0`);
  const node = outbox.newNode();
  for (let failures = 0; failures < 40 && (await outbox.isWaiting()); failures += 1) {
    await node.untilItPauses().catch(unlessUnavailable);
  }
  await expectPublished(outbox, 30);
  expect(await outbox.aside()).toHaveLength(60);
});

test('many damaged events are set aside a few at a time', async () => {
  const outbox = await newOutbox();
  await outbox.database.query(
    'create table aside (event_id text, xid xid8); ' +
      `create function note_aside() returns trigger language plpgsql as $$
       begin insert into aside values (new.event_id, pg_current_xact_id()); return new; end $$;
       create trigger note_aside before update of fault on events for each row execute function note_aside()`,
  );
  await outbox.write(60);
  await outbox.database.query(`update events set data = 'null'`);
  await outbox.newNode().untilItPauses();
  const { rows } = await outbox.database.query<{ amount: number }>(
    'select count(*)::int as amount from aside group by xid order by min(event_id)',
  );
  expect(rows.map(({ amount }) => amount)).toEqual([25, 25, 10]);
});

test('a failure that no event causes sets none aside', async () => {
  const outbox = await newOutbox();
  await outbox.database.query(
    `create function refuse_fault() returns trigger language plpgsql as $$
     begin raise exception 'not now'; end $$;
     create trigger refuse_fault before update of fault on events for each row execute function refuse_fault()`,
  );
  await outbox.write(3);
  await outbox.damage(2, `type = ''`);
  const node = outbox.newNode();
  const failed: unknown[] = [];
  for (let round = 0; round < 4; round += 1) {
    await node.untilItPauses().catch((error: unknown) => failed.push(error));
  }
  expect(failed).toEqual(failed.map(() => expect.objectContaining({ code: 'P0001' })));
  expect(failed.length).toBeGreaterThan(1);
  await outbox.database.query('drop trigger refuse_fault on events');
  await node.untilItPauses();
  await expectPublished(outbox, 2);
  expect(await outbox.aside()).toHaveLength(1);
});

test('events that together take longer than a transaction may are published in smaller parts', async () => {
  const outbox = await newOutbox();
  await outbox.write(40);
  const node = outbox.newNode();
  const slow: Consume = async (trx, events) => {
    await trx.raw('set local statement_timeout = 100');
    // Far too slow for many events, and fast for a few.
    await trx.raw('select pg_sleep(?)', [events.length > 10 ? 60 : 0]);
    await trx.raw('set local statement_timeout = 0');
  };
  for (let failures = 0; failures < 100 && (await outbox.isWaiting()); failures += 1) {
    await node.untilItPauses(slow).catch(unlessUnavailable);
  }
  await expectPublished(outbox, 40);
});

test('an event whose data the database has lost is set aside', async () => {
  const outbox = await newOutbox();
  await outbox.write(3);
  await outbox.writeAndLose(3, 'app_b');
  await outbox.newNode().untilItPauses();
  await expectPublished(outbox, 5);
  expect(await outbox.aside()).toEqual([
    { event_id: 'evt_app_b_00001', fault: expect.stringContaining('XX001') },
  ]);
});

test('an event whose data the database loses after its publication does not prevent reading the others', async () => {
  const outbox = await newOutbox();
  const node = outbox.newNode();
  await outbox.write(2);
  await outbox.database.query('update events set position = sequence');
  await outbox.writeAndLose(2, 'app_b');
  await outbox.database.query('update events set position = sequence');
  const expected = [
    ['evt_app_a_00001', {}],
    ['evt_app_a_00002', {}],
    ['evt_app_b_00001', {}],
    ['evt_app_b_00002', { text: expect.stringMatching(/^x{5000}$/) }],
  ];
  const shown = (rows: readonly NumberedRow[]) =>
    rows.map(toPublished).map(({ eventId, data }) => [eventId, data]);
  const range = { position: undefined, order: 'asc', limit: 10 } as const;
  const session = { appId: 'app_b', userId: 'usr_b', sessionDigest: Buffer.alloc(32) };
  const types = { application: ['application.updated'], user: [], session: [] };
  const span = { since: new Date(0), until: new Date(Date.now() + 3_600_000), after: undefined };
  const read = async (db: Knex) => {
    expect(shown(await readEventsAfter(db, 0, 10))).toEqual(expected);
    const ofApplication = expected.slice(2);
    expect(shown(await listEventsOfApplication(db, 'app_b', {}, range))).toEqual(ofApplication);
    expect(shown(await listEventsOfSession(db, { ...session, types }, range))).toEqual(ofApplication);
    expect(shown(await readEventsOfApplication(db, 'app_b', span, 10))).toEqual(ofApplication);
  };
  await read(node.knex);
  await node.knex.transaction(read);
});

test('an event that cannot even be set aside does not delay the others', async () => {
  const outbox = await newOutbox();
  await outbox.database.query(
    `create function refuse_event() returns trigger language plpgsql as $$
     begin raise exception 'damaged' using errcode = 'XX001'; end $$;
     create trigger refuse_event before update on events for each row
       when (old.event_id = 'evt_app_a_00002') execute function refuse_event()`,
  );
  await outbox.write(5);
  const node = outbox.newNode();
  await node.untilItPauses();
  await expectPublished(outbox, 4);
  // It costs nothing afterwards.
  await outbox.write(5, 'app_b');
  expect(await node.untilItPauses()).toBe(1);
  await expectPublished(outbox, 9);
});

test('a damaged event that an older version has published is not counted as set aside', async () => {
  const outbox = await newOutbox();
  await outbox.write(2);
  await outbox.damage(1, `fault = 'data is not an object'`);
  const pool = outbox.database as never;
  expect(await countSetAside(pool)).toEqual({ events: 1, broker: 0 });
  await outbox.database.query('update events set position = 1 where fault is not null');
  expect(await countSetAside(pool)).toEqual({ events: 0, broker: 0 });
});

test('nodes that take over, fail and set events aside publish each event once and in order', async () => {
  const outbox = await newOutbox();
  const nodes = [outbox.newNode(), outbox.newNode(), outbox.newNode()];
  let turn = 0;
  const unreliable: Consume = async (trx, events) => {
    turn += 1;
    // Its connection is ended after it has written.
    if (turn % 7 === 3) await trx.raw('select pg_terminate_backend(pg_backend_pid())');
    if (turn % 7 === 5) throw Object.assign(new Error('canceled'), { code: '57014' });
    if (events.some(({ data }) => data['bad'])) throw new RangeError('bad');
  };
  const working = nodes.map(async (node) => {
    for (let round = 0; round < 60; round += 1) {
      await node.untilItPauses(unreliable).catch(unlessUnavailable);
    }
  });
  const other = await connectTo(outbox.url);
  const writing = ['app_a', 'app_b'].map(async (app, place) => {
    const client = place === 0 ? outbox.database : other;
    for (let n = 1; n <= 60; n += 1) {
      await client.query(
        `insert into events (event_id, app_id, type, data, created_at)
         values ($1, $2, 'application.updated', $3, now())`,
        [`evt_${app}_${String(n).padStart(5, '0')}`, app, n % 20 === 0 ? '{"bad": true}' : '{}'],
      );
    }
  });
  await Promise.all([...writing, ...working]);
  turn = 0;
  for (let round = 0; round < 200 && (await outbox.isWaiting()); round += 1) {
    await nodes[0]!.untilItPauses(unreliable).catch(unlessUnavailable);
  }
  await expectPublished(outbox, 114);
  expect(await outbox.aside()).toHaveLength(6);
});
