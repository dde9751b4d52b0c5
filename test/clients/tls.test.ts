import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/processes.ts';
import { run } from '../support/programs.ts';
import { clients, type Program } from './support/clients.ts';
import { APP, startStandIn } from './support/stand-in.ts';

const openssl = await run('openssl', ['version']);

/** Creates a self-signed certificate for a name of the host. */
async function identityOf(name: string) {
  const folder = await temporaryFolder();
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
    ...[
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=DNS:${name}`,
      '-keyout',
      keyFile,
      '-out',
      certFile,
    ],
  ]);
  if (made.code !== 0) throw new Error(made.stderr);
  return { key: await readFile(keyFile, 'utf8'), cert: await readFile(certFile, 'utf8'), certFile };
}

if (openssl.code !== 0) test.skip('clients over TLS not tried: this machine lacks openssl', () => {});

describe.runIf(openssl.code === 0).each(clients)('$name over TLS', ({ missing, build }) => {
  if (missing !== undefined) {
    test.skip(`not tried: this machine lacks ${missing}`, () => {});
    return;
  }

  let program: Program;
  beforeAll(async () => void (program = await build()), 180_000);

  /** @param trusted the file of an additional authority that the client trusts */
  const demo = (baseUrl: string, trusted?: string) =>
    program.run(
      ['demo', baseUrl, APP.app_id, APP.secret, 'ada', 'secret', 'a-machine'],
      trusted === undefined ? {} : { SSL_CERT_FILE: trusted, NODE_EXTRA_CA_CERTS: trusted },
    );

  test('connects to a host with a certificate of a trusted authority', async () => {
    const identity = await identityOf('localhost');
    const { baseUrl, calls } = await startStandIn(undefined, identity);
    expect(await demo(baseUrl, identity.certFile)).toMatchObject({ code: 0, stderr: '' });
    expect(calls).toHaveLength(4);
  });

  test('sends nothing to a host with a certificate of an unknown authority', async () => {
    const { baseUrl, calls } = await startStandIn(undefined, await identityOf('localhost'));
    expect(await demo(baseUrl)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/\S/) });
    expect(calls).toEqual([]);
  });

  test('sends nothing to a host with another name', async () => {
    const identity = await identityOf('elsewhere.example');
    const { baseUrl, calls } = await startStandIn(undefined, identity);
    expect(await demo(baseUrl, identity.certFile)).toMatchObject({ code: 1, stdout: '' });
    expect(calls).toEqual([]);
  });
});
