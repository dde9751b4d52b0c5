import { createHash } from 'node:crypto';
import type { Random } from '../../platform/random.ts';
import type { Services } from '../../services.ts';
import type { Demo } from './demo.ts';

/**
 * The terminal output at the start: the demo's credentials, and the calls of a client program in order, ready to copy.
 * Each start uses a new user, so that registration always succeeds.
 */
export function demoBanner(
  addresses: Pick<Services['addresses'], 'issuer' | 'web'>,
  demo: Demo,
  random: Random,
): string {
  const baseUrl = addresses.issuer();
  const app = { app_id: demo.appId, secret: demo.secret };
  const username = `ada-${random.bytes(3).toString('hex')}`;
  const password = 'correct horse battery staple';
  const hwid = createHash('sha256').update('a demo machine').digest('hex');
  const file = `"\${TMPDIR:-/tmp}/latchkey-${username}.json"`;
  const token = `$(sed -n 's/.*"token":"\\([^"]*\\)".*/\\1/p' ${file})`;
  const credentials = JSON.stringify({ app_id: demo.appId, username, password, hwid }).slice(0, -1);
  const session = (member: string) => `{"app_id":"${demo.appId}","${member}":"'"${token}"'"`;

  const calls: [string, string][] = [
    ['init', call('v1', 'init', JSON.stringify(app))],
    ['register', call('v1', 'register', JSON.stringify({ ...app, username, password, hwid }))],
    [
      'login: the secret signs the body and is not sent',
      `BODY='${credentials},"nonce":"'$(openssl rand -hex 16)'"}'; ` +
        `SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac '${demo.secret}' -r | cut -d' ' -f1); ` +
        `curl -sS -w '\\n' -H 'Content-Type: application/json' -H "x-timestamp: $(date +%s)000" ` +
        `-H "x-signature: $SIGNATURE" ${baseUrl}/api/v2/client/login -d "$BODY" | tee ${file}`,
    ],
    ['verify-session', call('v2', 'verify-session', `${session('token')},"hwid":"${hwid}"}`)],
    [
      'activate',
      call('v1', 'activate', JSON.stringify({ ...app, username, license_key: demo.licenseKeys[0] })),
    ],
    ['logout', call('v2', 'logout', `${session('session_token')}}`)],
  ];

  function call(version: 'v1' | 'v2', path: string, body: string): string {
    const url = `${baseUrl}/api/${version}/client/${path}`;
    return `curl -sS -w '\\n' -H 'Content-Type: application/json' ${url} -d '${body}'`;
  }

  const facts: [string, string][] = [
    ['address', baseUrl],
    ['dashboard', `${addresses.web()}/dashboard`],
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
    ...facts.map(([name, value]) => `  ${name.padEnd(12)} ${value}`),
    '',
    'Try it, line by line:',
    ...calls.flatMap(([name, line]) => ['', `# ${name}`, line]),
    '',
    '',
  ].join('\n');
}
