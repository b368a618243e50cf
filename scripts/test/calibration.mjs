// How fast this machine is now: a fixed loop of JavaScript, on each core at once. Bounds of time are stated
// for one machine, and scale with it.
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** Seconds that both halves took, idle, on the machine on which the bounds were set (2 cores, 2026-11-28). */
export const REFERENCE_SECONDS = 5;

/** One half takes 2.5 s there. */
const ROUNDS = 600;

/** Integers, floats, objects and text, as compilers and tests have them. */
function loop() {
  let sum = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const numbers = new Float64Array(1 << 16);
    for (let i = 0; i < numbers.length; i++) numbers[i] = Math.sqrt(i ^ round) * 0.5;
    const words = new Map();
    for (let i = 0; i < 1 << 15; i++) {
      const word = `w${(Math.imul(i, 2654435761) >>> 0) % 4093}`;
      words.set(word, (words.get(word) ?? 0) + (numbers[i] ?? 0));
    }
    const sorted = [...words].sort(([, a], [, b]) => a - b);
    sum += sorted.length + (sorted[0]?.[1] ?? 0);
  }
  return sum;
}

if (!isMainThread) parentPort?.postMessage(loop());

function runWorker() {
  const worker = new Worker(new URL(import.meta.url));
  return new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
  });
}

/** Resolves to the seconds that half of the loop takes, on all cores at once. */
export async function halfCalibration() {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: availableParallelism() }, runWorker));
  return (performance.now() - startedAt) / 1000;
}

/** Whether a tier kept the minutes that it may take on the machine of reference, on one like this. */
export function boundLine({ minutes, calibration, seconds }) {
  const factor = Math.max(1, calibration / REFERENCE_SECONDS);
  const bound = minutes * factor;
  const kept = seconds <= bound * 60 ? 'kept' : 'EXCEEDED';
  return `bound beside set-up: ${minutes} min x ${factor.toFixed(2)} = ${bound.toFixed(1)} min, ${kept} with ${(seconds / 60).toFixed(1)} min`;
}
