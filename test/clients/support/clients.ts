import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import { atFileEnd } from '../../support/at-file-end.ts';
import { demand, run, type Outcome } from '../../support/programs.ts';

export const CLIENTS = fileURLToPath(new URL('../../../docs/clients/', import.meta.url));
const SUPPORT = import.meta.dirname;
export const VECTORS = join(CLIENTS, 'test-vectors.json');

/** One of the example clients. */
export interface Client {
  readonly name: string;
  /** Why it cannot run on this machine. */
  readonly missing: string | undefined;
  /** Compiles the client if necessary. */
  build(): Promise<Program>;
}

/** A client that can run. */
export interface Program {
  /** Runs it in a process of its own. */
  run(args: readonly string[], environment?: Record<string, string>): Promise<Outcome>;
  /** Like `run`, but in one process for all calls if the start of an interpreter would take most of the time. */
  runQuickly(args: readonly string[]): Promise<Outcome>;
}

/** @param command the start of the command line */
function compiled(...command: readonly [string, ...string[]]): Program {
  const [file, ...first] = command;
  const runAlone: Program['run'] = (args, environment = {}) =>
    run(file, [...first, ...args], { environment });
  return { run: runAlone, runQuickly: runAlone };
}

/**
 * @param interpreter the path of the interpreter
 * @param script the client
 * @param runs a script that runs the client once for every line of its standard input
 */
function interpreted(interpreter: string, script: string, ...runs: readonly string[]): Program {
  let runQuickly: Program['runQuickly'] | undefined;
  return {
    ...compiled(interpreter, script),
    runQuickly: (args) => (runQuickly ??= startRuns(interpreter, runs))(args),
  };
}

/** Starts a script that runs a client once for every line. It ends with the test file. */
function startRuns(interpreter: string, script: readonly string[]): Program['runQuickly'] {
  const child = spawn(interpreter, script, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  atFileEnd(async () => {
    child.kill();
    await ended;
  });
  const waiting: PromiseWithResolvers<Outcome>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    waiting.shift()!.resolve(JSON.parse(line) as Outcome);
  });
  const fail = () => waiting.splice(0).forEach(({ reject }) => reject(new Error(`${script[0]} ended`)));
  child.on('exit', fail).stdin.on('error', fail);
  return (args) => {
    const outcome = Promise.withResolvers<Outcome>();
    waiting.push(outcome);
    child.stdin.write(`${JSON.stringify(args)}\n`);
    return outcome.promise;
  };
}

/** A folder that one of the test files fills, because compilation takes seconds. It is deleted after the test run. */
async function oncePerRun(name: string, fill: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(inject('compiled'), name);
  const complete = join(folder, 'complete');
  while (!(await succeeds(access(complete)))) {
    if (await succeeds(mkdir(folder))) {
      try {
        await fill(folder);
        await writeFile(complete, '');
      } catch (error) {
        await rm(folder, { recursive: true });
        throw error;
      }
    } else await delay(100);
  }
  return folder;
}

const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

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
    build: async () =>
      interpreted(
        process.execPath,
        join(CLIENTS, 'typescript/latchkey.ts'),
        join(SUPPORT, 'typescript-runs.ts'),
      ),
  },
  {
    name: 'Python',
    missing: await unless('python3', ['--version'], 'python3'),
    async build() {
      const script = join(CLIENTS, 'python/latchkey.py');
      return interpreted('python3', script, join(SUPPORT, 'python-runs.py'), script);
    },
  },
  {
    name: 'C#',
    missing: dotnet === undefined ? 'dotnet with an SDK from 8 on' : undefined,
    async build() {
      const folder = await oncePerRun('csharp', (folder) =>
        demand('dotnet', [
          ...['build', join(CLIENTS, 'csharp/Latchkey.csproj'), '--output', join(folder, 'out'), '--nologo'],
          // The SDK has no reference assemblies of other versions. Nothing is written next to the sources.
          ...[`-p:TargetFramework=net${dotnet}`, '-p:UseAppHost=false'],
          ...[`-p:BaseIntermediateOutputPath=${join(folder, 'obj')}/`],
        ]),
      );
      return compiled('dotnet', join(folder, 'out/latchkey.dll'));
    },
  },
  {
    name: 'C++',
    missing: await unless('g++', ['-std=c++17', '-E', '-x', 'c++', '-'], 'g++ with OpenSSL headers', headers),
    async build() {
      const warnings = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror'];
      const folder = await oncePerRun('cpp', (folder) =>
        demand('g++', [
          ...['-std=c++17', ...warnings, join(CLIENTS, 'cpp/main.cpp'), '-o', join(folder, 'latchkey')],
          ...['-lssl', '-lcrypto'],
        ]),
      );
      return compiled(join(folder, 'latchkey'));
    },
  },
];
