/**
 * Loaded into a process of the service before it starts: collects all garbage repeatedly, and writes how many bytes
 * remain in use. The allocated memory says little about what a process retains, because the amount of uncollected
 * garbage depends on the load of the machine.
 */
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const PAUSE_MS = 100;

function sampleInto(file: string): void {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const sample = () => {
    const began = performance.now();
    // Unused buffers are freed concurrently after the first collection. The second one waits for that.
    collectGarbage();
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    appendFileSync(file, `${heapUsed + external}\n`);
    // On a busy machine, a collection is slow. Most of the time must be left to the service.
    setTimeout(sample, PAUSE_MS + 4 * (performance.now() - began)).unref();
  };
  sample();
}

const file = process.env['MEMORY_PROBE'];
if (isMainThread && file) sampleInto(file);
