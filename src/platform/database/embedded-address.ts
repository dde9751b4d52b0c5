import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ServerAccount } from './embedded-account.ts';
import { prepareSocketFolder } from './embedded-socket.ts';

/** The address of the embedded server. */
export interface EmbeddedAddress {
  host: string;
  port: number;
  /** The password and its file, if no folder protects the socket. */
  password?: string;
  passwordFile?: string;
  /** The server settings for this address, by name. */
  settings: Record<string, string>;
  /** Removes the files of the address. */
  release(): void;
}

/** A Unix socket in a folder of its own; on Windows, the loopback interface with a password. */
export async function prepareAddress(
  dataDir: string,
  account: ServerAccount | undefined,
): Promise<EmbeddedAddress> {
  if (process.platform === 'win32') return loopback(dataDir);
  const host = prepareSocketFolder(dataDir, account);
  return {
    host,
    port: 5432,
    settings: {
      port: '5432',
      listen_addresses: '',
      unix_socket_directories: `"${host}"`,
      unix_socket_permissions: '0700',
    },
    release: () => rmSync(host, { recursive: true, force: true }),
  };
}

async function loopback(dataDir: string): Promise<EmbeddedAddress> {
  const host = '127.0.0.1';
  const port = await freePort(host);
  const passwordFile = join(dataDir, 'postgres.password');
  if (!existsSync(passwordFile))
    writeFileSync(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return {
    host,
    port,
    password: readFileSync(passwordFile, 'utf8').trim(),
    passwordFile,
    settings: { port: String(port), listen_addresses: host },
    release: () => {},
  };
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
