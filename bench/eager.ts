import {
  array,
  configure,
  counters,
  f32,
  type NdArray,
  program,
  repeatTimes,
} from '../src/program/index.ts';

const STEPS = 1000;
const ROUNDS = 4;

/**
 * Sizes of eager matmuls, and how much more time a loop of them may take than the same loop as one
 * program.
 */
const CASES = [
  { size: 8, title: 'steps of 8x8', most: { moreMs: 0.1, ratio: Infinity } },
  { size: 192, title: 'steps of 1 ms, about', most: { moreMs: Infinity, ratio: 1.3 } },
];

/**
 * Eager loops, not read in between, against the same loops as one program, side by side: `node scripts/run-ts.mjs
 * bench/eager.ts [wasm|host]`. Resolves to 1 where a bound is missed, or where a loop is compiled again.
 */
export async function main([device = 'wasm']: readonly string[]): Promise<number> {
  configure({ device: device === 'host' ? 'host' : 'wasm', worker: false });
  let status = 0;
  for (const { size, title, most } of CASES) {
    const { eager, whole, compiled } = await measure(size);
    const isGood = eager - whole <= most.moreMs && eager / whole <= most.ratio && compiled === 0;
    console.log(
      `${title}: eager ${eager.toFixed(3)} ms, one program ${whole.toFixed(3)} ms, ` +
        `${(eager / whole).toFixed(2)} times as long; compiled again: ${compiled}${isGood ? '' : ' MISSED'}`,
    );
    if (!isGood) status = 1;
  }
  return status;
}

/** Median times of a step, and what was compiled after the first rounds. */
async function measure(size: number) {
  const w = array(
    Float32Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0)),
  ).reshape(size, size);
  await w.read();
  const loop = program({ x: f32(size, size), y: f32(size, size) }, ({ x, y }) =>
    repeatTimes(STEPS, x, (state) => state.matmul(y)),
  );
  const runs = [
    async () => {
      let x: NdArray = w;
      for (let i = 0; i < STEPS; i++) x = x.matmul(w);
      await x.data();
    },
    async () => {
      await loop({ x: w, y: w }).data();
    },
  ];
  for (let i = 0; i < 2; i++) for (const run of runs) await run();
  const before = counters().compiled;
  const times = runs.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, run] of runs.entries()) {
      const start = performance.now();
      await run();
      times[i]?.push((performance.now() - start) / STEPS);
    }
  }
  const [eager = 0, whole = 0] = times.map(
    (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0,
  );
  return { eager, whole, compiled: counters().compiled - before };
}
