import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../support/free-port.ts';
import { temporaryFolder, type AtEnd } from '../../../support/processes.ts';

/** The program to test with; Debian's by default. */
const PROGRAM = process.env['PGBOUNCER'] ?? 'pgbouncer';

/** Its version as [major, minor]; undefined if it is not installed. */
export function pgbouncerVersion(): readonly [number, number] | undefined {
  const { stdout } = spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' });
  const found = /PgBouncer (\d+)\.(\d+)/.exec(stdout ?? '');
  return found ? [Number(found[1]), Number(found[2])] : undefined;
}

/**
 * Starts a PgBouncer in front of a database.
 * @param databaseUrl in the form of the tests, with host, port and user as parameters
 * @param settings of its section `pgbouncer`
 * @returns the address of the database through PgBouncer
 */
export async function startPgbouncer(
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>>,
  atEnd: AtEnd,
): Promise<string> {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  const { host, port = '5432', user } = Object.fromEntries(url.searchParams);
  const folder = await temporaryFolder(atEnd);
  await chmod(folder, 0o755);
  const listenPort = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: listenPort,
    unix_socket_dir: '',
    auth_type: 'any',
    default_pool_size: 20,
    max_client_conn: 200,
    ...settings,
  };
  await writeFile(
    file,
    `[databases]\n${name} = host=${host} port=${port} user=${user} dbname=${name}\n[pgbouncer]\n${Object.entries(
      all,
    )
      .map(([key, value]) => `${key} = ${value}\n`)
      .join('')}`,
  );
  // It refuses to run as root; PostgreSQL's socket folder belongs to `nobody` in that case.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(PROGRAM, ['-q', ...account, file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const closed = once(child, 'close');
  atEnd(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  for (let waited = 0; ; waited += 50) {
    const socket = connect(listenPort, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) break;
    if (child.exitCode !== null || waited > 10_000) throw new Error('PgBouncer does not start');
    await delay(50);
  }
  return `postgresql://${user}@127.0.0.1:${listenPort}/${name}`;
}
