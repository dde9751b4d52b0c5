import { EMAIL, PASSWORD } from '../create-app.ts';
import * as data from '../data.ts';
import { loadPage, startBrowser, type Device, type LoadTimes } from '../load/slow-browser.ts';
import type { Plan } from '../plan.ts';
import { formatTable, median, ratio, whole, type Column } from '../report.ts';
import type { Stage } from '../stage.ts';

/** An inexpensive telephone on a slow mobile network. */
const DEVICE: Device = { cpuSlowdown: 4, bitsPerSecond: 1_600_000 };
const LICENSES = 100_000;

/** Each page, and what is in its document once a developer can work with it. */
const pagesOf = (app: string): Readonly<Record<string, readonly [path: string, ready: string]>> => ({
  'sign-in': ['/sign-in', 'input[type=password]'],
  overview: ['', 'main tbody tr'],
  statistics: [`/apps/${app}`, 'main canvas'],
  licenses: [`/apps/${app}/licenses`, 'main tbody tr'],
  users: [`/apps/${app}/users`, 'main tbody tr'],
  settings: [`/apps/${app}/settings`, 'main form'],
});

/** One line of the table, over all rounds. */
interface Line {
  readonly name: string;
  readonly rounds: LoadTimes[];
}

const of = ({ rounds }: Line, figure: (times: LoadTimes) => number) => median(rounds.map(figure));
const seconds = (ms: number) => (ms / 1000).toFixed(2);
/** Milliseconds that its bytes take. */
const transfer = ({ bytes }: LoadTimes) => (bytes * 8 * 1000) / DEVICE.bitsPerSecond;

const COLUMNS: readonly Column<Line>[] = [
  { header: 'requests', of: (line) => whole(of(line, ({ requests }) => requests)) },
  { header: 'KB', of: (line) => whole(of(line, ({ bytes }) => bytes / 1024)) },
  { header: 'transfer s', of: (line) => seconds(of(line, transfer)) },
  { header: 'first paint s', of: (line) => seconds(of(line, ({ firstPaint }) => firstPaint)) },
  { header: 'usable s', of: (line) => seconds(of(line, ({ usable }) => usable)) },
  { header: 'to transfer', of: (line) => ratio(of(line, (times) => times.usable / transfer(times))) },
];

/** How soon pages of the dashboard are usable on a slow device that loads them for the first time. */
export async function measurePages(stage: Stage, { sessions, rounds }: Plan): Promise<string> {
  const { population, latchkey } = await stage.openTarget('pages', { sessions, licenses: LICENSES });
  const { port } = await latchkey.request('state');
  const origin = `http://127.0.0.1:${port}`;
  await logIn(origin, population.app);
  const cookie = await signIn(origin);
  const pages = pagesOf(population.app.app_id);
  const lines = Object.keys(pages).map((name): Line => ({ name, rounds: [] }));
  const browser = await startBrowser();
  try {
    for (let round = 0; round <= rounds; round += 1) {
      process.stderr.write(round === 0 ? 'pages: warming up\n' : `pages: round ${round} of ${rounds}\n`);
      for (const line of lines) {
        const [path, ready] = pages[line.name]!;
        const url = `${origin}/dashboard${path}`;
        const times = await loadPage(browser, DEVICE, {
          url,
          cookie: line.name === 'sign-in' ? undefined : cookie,
          ready,
        });
        // The service compresses a file when it is first requested.
        if (round > 0) line.rounds.push(times);
      }
    }
  } finally {
    await browser.close();
  }
  const { cpuSlowdown, bitsPerSecond } = DEVICE;
  const title = `Processor at 1/${cpuSlowdown}, ${bitsPerSecond / 1e6} Mbit/s, nothing cached`;
  return formatTable(title, lines, COLUMNS);
}

/** Logs a user in, because an application without logins has no plots. */
async function logIn(origin: string, { app_id, secret }: data.App): Promise<void> {
  const user = { username: 'user-0', password: data.PASSWORD, hwid: data.hwidOf(0) };
  const response = await fetch(`${origin}/api/v1/client/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ app_id, secret, ...user }),
  });
  if (response.status !== 200)
    throw new Error(`the login returned ${response.status} ${await response.text()}`);
}

/** Signs the developer in. @returns the cookie */
async function signIn(origin: string): Promise<{ name: string; value: string }> {
  const response = await fetch(`${origin}/api/v2/dev/browser-sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' },
    body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
  });
  const [name, value] = response.headers.getSetCookie()[0]?.split(';')[0]?.split('=') ?? [];
  if (!name || !value) throw new Error(`the sign-in returned ${response.status} ${await response.text()}`);
  return { name, value };
}
