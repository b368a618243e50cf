import { DeviceTensor, Session, Tensor } from '../../src/client/index.ts';
import type { BenchDevice } from '../cases/bench-case.ts';
import type { MachineCase, SizedProgram } from '../cases/machine-cases.ts';
import { sourceAt } from './runtime.ts';

/** A cost of the machine with its unit in words. */
export interface MachineFigure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The promised limit. */
  readonly most?: number;
}

type Measure = (
  programs: readonly SizedProgram[],
  device: BenchDevice,
) => Promise<readonly MachineFigure[]>;

/** What measures each cost. */
export const MEASURES: Readonly<Record<MachineCase, Measure>> = {
  'launch-overhead': launchOverhead,
  'allocator-churn': allocatorChurn,
  interpretation,
  'load-time': loadTime,
  readback,
  'round-trip': roundTrip,
  'state-step': (programs, device) => stateSteps('change', programs, device),
  'state-append': (programs, device) => stateSteps('append', programs, device),
  'state-append-heads': (programs, device) => stateSteps('append heads', programs, device),
};

const REPEATS = 9;
const DEVICE = { device: 'webgpu' } as const;

/**
 * Microseconds that one more launch costs: until the host has handed everything over, and until the
 * result is there. Both programs are the same but for the number of their launches.
 */
async function launchOverhead(programs: readonly SizedProgram[]): Promise<MachineFigure[]> {
  const x = new Tensor('float32', new Float32Array(64).fill(0.1), [8, 8]);
  const handed: number[] = [];
  const done: number[] = [];
  for (const { url } of programs) {
    await using session = await Session.load(sourceAt(url), DEVICE);
    let [least, leastInAll] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let i = 0; i < 4 * REPEATS; i++) {
      const begin = performance.now();
      const { y } = await session.run({ x }, { keep: 'device' });
      least = Math.min(least, performance.now() - begin);
      await y?.read();
      leastInAll = Math.min(leastInAll, performance.now() - begin);
      y?.dispose();
    }
    handed.push(least);
    done.push(leastInAll);
  }
  const sizes = programs.map(({ size }) => size);
  return [
    { what: 'host time of a launch', value: 1000 * slope(sizes, handed), unit: 'us' },
    { what: 'a launch of 8x8 elements in all', value: 1000 * slope(sizes, done), unit: 'us' },
  ];
}

/** Milliseconds of a run whose sizes were never seen before, and what the pool holds in the end. */
async function allocatorChurn([program]: readonly SizedProgram[]): Promise<MachineFigure[]> {
  await using session = await Session.load(sourceAt(program?.url ?? ''), DEVICE);
  const run = async (rows: number): Promise<number> => {
    const x = new Tensor('float32', new Float32Array(rows * 64).fill(0.1), [rows, 64]);
    const begin = performance.now();
    await session.run({ x });
    return performance.now() - begin;
  };
  const [growing, same]: [number[], number[]] = [[], []];
  for (let i = 1; i <= 10 * REPEATS; i++) {
    growing.push(await run(16 * i));
    same.push(await run(8 * 10 * REPEATS));
  }
  const { pooledBytes, liveBytes, peakBytes } = await session.memory();
  // One tensor of the largest size, in and out of each kernel.
  const largestBytes = 2 * 16 * 10 * REPEATS * 64 * 4;
  return [
    { what: 'a run with another length', value: mean(growing), unit: 'ms' },
    { what: 'a run with their mean length', value: mean(same), unit: 'ms' },
    {
      what: 'memory at the peak, of the largest live set',
      value: peakBytes / largestBytes,
      unit: 'x',
    },
    { what: 'left in use', value: liveBytes / 1024, unit: 'KB' },
    { what: 'pooled', value: pooledBytes / 1024, unit: 'KB' },
  ];
}

/** Nanoseconds of one bytecode instruction, in a loop over ints on the host. */
async function interpretation([program]: readonly SizedProgram[]): Promise<MachineFigure[]> {
  await using session = await Session.load(sourceAt(program?.url ?? ''), { device: 'host' });
  const counts = [1000, 201_000];
  const times: number[] = [];
  const instructions: number[] = [];
  for (const n of counts) {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < REPEATS; i++) {
      const begin = performance.now();
      await session.run<number>({ n });
      least = Math.min(least, performance.now() - begin);
    }
    times.push(least);
    instructions.push((await session.profile({ n })).instructions);
  }
  return [{ what: 'a bytecode instruction', value: 1e6 * slope(instructions, times), unit: 'ns' }];
}

/** Milliseconds that one more megabyte of weights takes from a local server to the device. */
async function loadTime(programs: readonly SizedProgram[]): Promise<MachineFigure[]> {
  const times: number[] = [];
  for (const { url } of programs) {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 3; i++) {
      const begin = performance.now();
      const session = await Session.load(sourceAt(url), DEVICE);
      least = Math.min(least, performance.now() - begin);
      await session.dispose();
    }
    times.push(least);
  }
  const sizes = programs.map(({ size }) => size);
  return [{ what: 'loading a megabyte of weights', value: slope(sizes, times), unit: 'ms' }];
}

/**
 * The time of one number, and the speed of many, from the device to the page. What is read was computed before. Sizes
 * of the programs are numbers of floats, the smaller first.
 */
async function readback(programs: readonly SizedProgram[]): Promise<MachineFigure[]> {
  const times: number[] = [];
  for (const { size, url } of programs) {
    await using session = await Session.load(sourceAt(url), { device: 'webgpu' });
    const x = new Tensor('float32', new Float32Array(size).fill(1), [size]);
    const { y } = await session.run({ x }, { keep: 'device' });
    if (!(y instanceof DeviceTensor)) throw new Error('internal: nothing to read');
    (await y.read()).dispose();
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 2 * REPEATS; i++) {
      const begin = performance.now();
      const read = await y.read();
      least = Math.min(least, performance.now() - begin);
      read.dispose();
    }
    times.push(least);
  }
  const [shortMs = Number.NaN, longMs = Number.NaN] = times;
  const [small = 0, large = 0] = programs.map(({ size }) => size * Float32Array.BYTES_PER_ELEMENT);
  return [
    { what: 'reading one number back', value: shortMs, unit: 'ms' },
    {
      what: `reading ${large / 2 ** 20} MB back`,
      value: (large - small) / (longMs - shortMs) / 1e6,
      unit: 'GB/s',
    },
  ];
}

/** Rounds of a round trip, each of so many runs. */
const ROUNDS = { count: 20, runs: 50 };
/** Weft's own part of a round trip, beside two messages. */
const MOST_OWN_MS = 0.15;

/** Milliseconds of a run in the worker more than in the page, on the processor, and of two bare messages. */
async function roundTrip([program]: readonly SizedProgram[]): Promise<MachineFigure[]> {
  const url = program?.url ?? '';
  await using near = await Session.load(sourceAt(url), { device: 'wasm', worker: false });
  await using far = await Session.load(sourceAt(url), { device: 'wasm' });
  const x = new Tensor('float32', new Float32Array(64).fill(0.1), [8, 8]);
  const echo = startEcho();
  const contestants = [() => near.run({ x }), () => far.run({ x }), () => echo.send(x.data)];
  const least = contestants.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS.count; round++) {
    for (const [i, run] of contestants.entries()) {
      const begin = performance.now();
      for (let n = 0; n < ROUNDS.runs; n++) await run();
      const ms = (performance.now() - begin) / ROUNDS.runs;
      least[i] = Math.min(least[i] ?? ms, ms);
    }
  }
  echo.stop();
  const [inPage = 0, inWorker = 0, bare = 0] = least;
  return [
    { what: 'a run of 8x8 elements in the page', value: inPage, unit: 'ms' },
    { what: 'the same in the worker', value: inWorker, unit: 'ms' },
    { what: 'a message to a worker and back', value: bare, unit: 'ms' },
    {
      what: "Weft's part of the round trip",
      value: inWorker - inPage - bare,
      unit: 'ms',
      most: MOST_OWN_MS,
    },
  ];
}

/** How much longer a step may take on a state a thousand times as large. */
const MOST_FOR_SIZE = 1.2;

/**
 * The change that a step makes with a row: it replaces one of the state, or extends the state, or
 * each of eight heads of it.
 */
type StateStep = 'change' | 'append' | 'append heads';

const STEP_NAMES: Readonly<Record<StateStep, string>> = {
  change: 'a step of',
  append: 'a row appended to',
  'append heads': 'a row appended to each of eight heads of',
};

function meanOfFast(times: readonly number[]): number {
  const fast = times.toSorted((a, b) => a - b).slice(0, Math.ceil((times.length * 3) / 4));
  return fast.reduce((sum, ms) => sum + ms, 0) / fast.length;
}

type StateDevice = BenchDevice | 'host';

/**
 * Milliseconds of a step that changes or adds a row of a state, which stays on the device and is given to the next
 * step: on a small state and on a large one, by turns, since the rest of the machine is busy at times. Means of all but
 * the slowest quarter, so that of a state that grows the steps count that have room; clocks of pages tell tenths.
 */
async function stateSteps(
  kind: StateStep,
  programs: readonly SizedProgram[],
  place: BenchDevice,
): Promise<MachineFigure[]> {
  const figures: MachineFigure[] = [];
  for (const device of place === 'wasm' ? (['wasm', 'host'] as const) : [place]) {
    const steppers = await Promise.all(programs.map((one) => openState(one, kind, device)));
    const times: number[][] = steppers.map(() => []);
    for (let round = 0; round < 10 * REPEATS; round++) {
      for (const [i, { step }] of steppers.entries()) times[i]?.push(await step(round));
    }
    const [small = 0, large = 0] = times.map(meanOfFast);
    figures.push(
      { what: `${STEP_NAMES[kind]} a state of 64 KB on ${device}`, value: small, unit: 'ms' },
      { what: `the same of 64 MB on ${device}`, value: large, unit: 'ms' },
      { what: `their ratio on ${device}`, value: large / small, unit: 'x', most: MOST_FOR_SIZE },
    );
    for (const { session } of steppers) await session.dispose();
  }
  return figures;
}

/** A session with a state of so many kilobytes, and steps of which each takes milliseconds. */
async function openState({ url, size }: SizedProgram, kind: StateStep, device: StateDevice) {
  const session = await Session.load(sourceAt(url), { device });
  const shapeOf = (rows: number): number[] =>
    kind === 'append heads' ? [1, 8, rows, 32] : [rows, 256];
  const tensorOf = (rows: number): Tensor =>
    new Tensor('float32', new Float32Array(rows * 256).fill(1), shapeOf(rows));
  const row = tensorOf(1);
  let state: Tensor | DeviceTensor = tensorOf(size);
  const step = async (n: number): Promise<number> => {
    const at = new Tensor('int32', Int32Array.of((7 * n) % size), [1, 1]);
    const begin = performance.now();
    const options = { keep: ['state'], donate: ['state'] } as const;
    const inputs = kind === 'change' ? { state, at, row } : { state, row };
    const outputs = await session.run(inputs, options);
    state = outputs.state;
    return performance.now() - begin;
  };
  // The first two steps of a state that grows move it.
  for (let n = 0; n < 2; n++) await step(n);
  return { session, step };
}

/** A worker that sends back what it gets. */
function startEcho() {
  const code = 'onmessage = ({ data }) => postMessage(data);';
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  const worker = new Worker(url);
  return {
    send: (data: unknown): Promise<unknown> =>
      new Promise((resolve) => {
        worker.addEventListener('message', resolve, { once: true });
        worker.postMessage(data);
      }),
    stop() {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

function slope([x0 = 0, x1 = 0]: readonly number[], [y0 = 0, y1 = 0]: readonly number[]): number {
  return (y1 - y0) / (x1 - x0);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
