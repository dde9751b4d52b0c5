import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** A shell that runs block after block, like a person who pastes them. */
export interface Shell {
  /**
   * @returns the output of the block
   * @throws Error with the output if one of the commands fails
   */
  run(block: string): Promise<string>;
}

/** Opens a shell in a folder. It ends with the test. */
export function openShell(cwd: string): Shell {
  const child = spawn('sh', ['-u'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.stdin.end();
    await closed;
  });
  let output = '';
  let wake = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      wake();
    });
  }
  child.once('close', () => wake());
  let count = 0;

  return {
    async run(block) {
      const mark = `--- block ${++count} `;
      output = '';
      child.stdin.write(`${block}\necho; echo "${mark}$?"\n`);
      while (!output.includes(`\n${mark}`) && child.exitCode === null) {
        await new Promise<void>((resolve) => (wake = resolve));
      }
      const [printed = '', status] = output.split(`\n${mark}`);
      if (status?.trim() !== '0') throw new Error(`${block}\nends with ${status?.trim()}:\n${printed}`);
      return printed.trim();
    },
  };
}

/** The `sh` blocks of a Markdown text, in order. */
export function shellBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!);
}
