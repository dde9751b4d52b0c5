import { operatorFault } from '../../platform/database/errors.ts';
import { StartupError } from '../../platform/startup-error.ts';

const exitAtOnce = (signal: NodeJS.Signals): void => process.exit(signal === 'SIGINT' ? 130 : 143);

/**
 * Runs a command of the terminal. An error that the operator can fix is shown as one line; any other error is a defect.
 * @param signals false when the command handles SIGINT and SIGTERM itself; otherwise they end the process, and its
 *   embedded database with it
 */
export async function runCommand(command: () => Promise<void>, { signals = true } = {}): Promise<void> {
  if (signals) process.on('SIGTERM', exitAtOnce).on('SIGINT', exitAtOnce);
  try {
    await command();
  } catch (error) {
    const line = error instanceof StartupError ? error.message : operatorFault(error);
    if (line === undefined) throw error;
    process.stderr.write(`latchkey: ${line}\n`);
    process.exitCode = 1;
  }
}
