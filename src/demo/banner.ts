import { createHash } from 'node:crypto';
import type { Random } from '../platform/random.ts';
import type { Demo } from './demo.ts';

/**
 * What the terminal shows at the start: the demo's credentials, and the calls of a client program from its first to its
 * last, to be copied one after the other. The user is a new one at every start, so that registration works every time.
 */
export function demoBanner(baseUrl: string, demo: Demo, random: Random): string {
  const app = { app_id: demo.appId, secret: demo.secret };
  const username = `ada-${random.bytes(3).toString('hex')}`;
  const password = 'correct horse battery staple';
  const hwid = createHash('sha256').update('a demo machine').digest('hex');
  const answer = `"\${TMPDIR:-/tmp}/latchkey-${username}.json"`;
  const token = `$(sed -n 's/.*"token":"\\([^"]*\\)".*/\\1/p' ${answer})`;
  const session = `{"app_id":"${demo.appId}","token":"'"${token}"'"`;

  const calls: [string, string][] = [
    ['init', call('init', JSON.stringify(app))],
    ['register', call('register', JSON.stringify({ ...app, username, password, hwid }))],
    ['login', `${call('login', JSON.stringify({ ...app, username, password, hwid }))} | tee ${answer}`],
    ['verify-session', call('verify-session', `${session},"hwid":"${hwid}"}`)],
    ['activate', call('activate', JSON.stringify({ ...app, username, license_key: demo.licenseKeys[0] }))],
    ['logout', call('logout', `${session}}`)],
  ];

  function call(path: string, body: string): string {
    return `curl -sS -w '\\n' -H 'Content-Type: application/json' ${baseUrl}/api/v1/client/${path} -d '${body}'`;
  }

  const credentials: [string, string][] = [
    ['address', baseUrl],
    ['app_id', demo.appId],
    ['secret', demo.secret],
    ...demo.licenseKeys.map((key): [string, string] => ['license key', key]),
    [
      'developer',
      demo.password === undefined ? demo.email : `${demo.email} / ${demo.password}  (shown once)`,
    ],
  ];
  return [
    '',
    'Latchkey demo application',
    ...credentials.map(([name, value]) => `  ${name.padEnd(12)} ${value}`),
    '',
    'Try it, line by line:',
    ...calls.flatMap(([name, line]) => ['', `# ${name}`, line]),
    '',
    '',
  ].join('\n');
}
