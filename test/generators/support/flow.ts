import { expect } from 'vitest';
import { startTestService } from '../../support/service.ts';
import { run, type Command } from './programs.ts';
import { startGrowingProxy } from './growing-proxy.ts';

/** What the program around every generated client does, in this order. It prints `ok`, a space, and the step. */
const STEPS = [
  'register a developer',
  'create an application',
  'create license keys',
  'initialize the program',
  'register a user',
  'log in',
  'verify the session',
  'read a problem',
  'read a validation problem',
  'list pages',
  'export CSV',
  'import CSV',
  'upload a file',
  'download a file',
  'log out',
];

/**
 * Runs the program around a generated client against a service of its own, whose responses have members that the
 * contract does not name, as those of a later version may.
 * @param command the program, which reads the address of the service from `BASE_URL`
 */
export async function expectFlow(command: Command): Promise<void> {
  const service = await startTestService();
  const baseUrl = await startGrowingProxy(service.baseUrl);
  const { code, stdout, stderr } = await run({
    ...command,
    environment: { ...command.environment, BASE_URL: baseUrl },
  });
  const passed = stdout.split('\n').filter((line) => line.startsWith('ok '));
  expect({ passed, code, stderr: code === 0 ? '' : stderr }).toEqual({
    passed: STEPS.map((step) => `ok ${step}`),
    code: 0,
    stderr: '',
  });
}
