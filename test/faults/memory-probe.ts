/**
 * Loaded into a process of the service before it starts: collects all garbage again and again, and writes how many
 * bytes remain in use. The memory that a process has allocated says little about what it retains: how much garbage
 * waits to be collected differs with the load of the machine.
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
    // Buffers that the first collection finds unused are freed concurrently; the second waits for that.
    collectGarbage();
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    appendFileSync(file, `${heapUsed + external}\n`);
    // On a busy machine a collection takes long; most of the time belongs to the service.
    setTimeout(sample, PAUSE_MS + 4 * (performance.now() - began)).unref();
  };
  sample();
}

const file = process.env['MEMORY_PROBE'];
if (isMainThread && file) sampleInto(file);
