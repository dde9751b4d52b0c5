import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { atFileEnd } from '../../support/at-file-end.ts';
import { temporaryFolder } from '../../support/processes.ts';

export const CLIENTS = fileURLToPath(new URL('../../../docs/clients/', import.meta.url));
export const VECTORS = join(CLIENTS, 'test-vectors.json');

/** The result of a client program. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One of the example clients. */
export interface Client {
  readonly name: string;
  /** Why it cannot run on this machine. */
  readonly missing: string | undefined;
  /** Compiles the client if necessary. Its folder is deleted after the test file. @returns its command line */
  build(): Promise<readonly string[]>;
}

/** The input of a program besides its arguments. */
export interface Given {
  /** Its standard input. */
  readonly input?: string;
  /** Additional environment variables. */
  readonly environment?: Record<string, string>;
}

/** Runs a program until it exits. A missing one has exit code 127, like in a shell. */
export function run(program: string, args: readonly string[], given: Given = {}): Promise<Outcome> {
  const options = { timeout: 120_000, env: { ...process.env, ...given.environment } };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code === 'ENOENT' ? 127 : Number(error.code ?? -1);
      resolve({ code, stdout, stderr });
    });
    child.stdin?.on('error', () => {}).end(given.input ?? '');
  });
}

/** Runs a program that must succeed. */
async function demand(program: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run(program, args);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
}

/** The name of what is missing if a trial run fails. */
async function unless(program: string, args: readonly string[], missing: string, input = '') {
  const { code } = await run(program, args, { input });
  return code === 0 ? undefined : missing;
}

/** The newest .NET SDK from 8 on, such as `8.0`. */
async function dotnetVersion(): Promise<string | undefined> {
  const { stdout } = await run('dotnet', ['--list-sdks']);
  const majors = [...stdout.matchAll(/^(\d+)\./gm)].map((match) => Number(match[1]));
  const newest = Math.max(...majors);
  return newest >= 8 ? `${newest}.0` : undefined;
}

const headers = '#include <charconv>\n#include <openssl/hmac.h>\n#include <openssl/ssl.h>\n';
const dotnet = await dotnetVersion();

export const clients: readonly Client[] = [
  {
    name: 'TypeScript',
    missing: undefined,
    build: async () => [process.execPath, join(CLIENTS, 'typescript/latchkey.ts')],
  },
  {
    name: 'Python',
    missing: await unless('python3', ['--version'], 'python3'),
    build: async () => ['python3', join(CLIENTS, 'python/latchkey.py')],
  },
  {
    name: 'C#',
    missing: dotnet === undefined ? 'dotnet with an SDK from 8 on' : undefined,
    async build() {
      const folder = await temporaryFolder(atFileEnd);
      const out = join(folder, 'out');
      await demand('dotnet', [
        ...['build', join(CLIENTS, 'csharp/Latchkey.csproj'), '--output', out, '--nologo'],
        // The SDK has no reference assemblies of other versions. Nothing is written next to the sources.
        ...[`-p:TargetFramework=net${dotnet}`, '-p:UseAppHost=false'],
        ...[`-p:BaseIntermediateOutputPath=${join(folder, 'obj')}/`],
      ]);
      return ['dotnet', join(out, 'latchkey.dll')];
    },
  },
  {
    name: 'C++',
    missing: await unless('g++', ['-std=c++17', '-E', '-x', 'c++', '-'], 'g++ with OpenSSL headers', headers),
    async build() {
      const binary = join(await temporaryFolder(atFileEnd), 'latchkey');
      const warnings = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror'];
      await demand('g++', [
        ...['-std=c++17', ...warnings, join(CLIENTS, 'cpp/main.cpp'), '-o', binary],
        ...['-lssl', '-lcrypto'],
      ]);
      return [binary];
    },
  },
];
