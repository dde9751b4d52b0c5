// Runs the TypeScript client for every line of standard input, a JSON array of arguments.
import { createInterface } from 'node:readline';
import { main } from '../../../docs/clients/typescript/latchkey.ts';

for await (const line of createInterface({ input: process.stdin })) {
  let [stdout, stderr] = ['', ''];
  console.log = (text: string) => void (stdout += `${text}\n`);
  console.error = (text: string) => void (stderr += `${text}\n`);
  const code = await main(...(JSON.parse(line) as string[]));
  process.stdout.write(`${JSON.stringify({ code, stdout, stderr })}\n`);
}
