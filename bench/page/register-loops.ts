import { encodeModule } from '../../src/wasm/encode-module.ts';
import {
  apply,
  type Expression,
  f32x4,
  i32,
  i32x4,
  type Local,
  local,
} from '../../src/wasm/expression.ts';
import { loop, set, type Statement, store } from '../../src/wasm/statement.ts';
import { type REGISTER_OPERATIONS, ROUNDS, STEPS } from './register-operations.ts';
import type { Running } from './runtime.ts';

type LoopName = keyof typeof REGISTER_OPERATIONS;

/** One step of a chain: the next value of a register. */
type Step = (chain: Local, factor: Local) => Expression;

/** Registers of a loop: enough to hide the latency, and few enough to leave some for the engine. */
const CHAINS = [8, 12];

/** The ways to do the same; of those that the engine takes, the fastest counts. */
const WAYS: Readonly<Record<LoopName, readonly Step[]>> = {
  'multiply-adds': [
    (chain, factor) => apply('f32x4.relaxed_madd', chain, factor, factor),
    (chain, factor) => apply('f32x4.add', apply('f32x4.mul', chain, factor), factor),
  ],
  'byte-products': [
    (chain, factor) => apply('i32x4.relaxed_dot_i8x16_i7x16_add_s', factor, factor, chain),
  ],
};

const FACTORS: Readonly<Record<LoopName, Expression>> = {
  'multiply-adds': f32x4(0.5),
  'byte-products': i32x4(0x01010101),
};

/** Milliseconds of trials, after which the engine's better compiler is done. */
const TRIAL_MS = 200;

/** A loop in registers of one core, as fast as the engine does it. Throws where it takes none. */
export function startRegisterLoop(name: LoopName): Running {
  const bodies = CHAINS.flatMap((count) =>
    WAYS[name].map((step) => body(count, step, FACTORS[name])),
  );
  const loops = bodies.flatMap((statements) => compileLoop(statements) ?? []);
  const times = loops.map(fastestOf);
  const run = loops[times.indexOf(Math.min(...times))];
  if (run === undefined) throw new Error('this engine has no relaxed SIMD');
  return {
    run() {
      run();
      return Promise.resolve([]);
    },
  };
}

function compileLoop(body: readonly Statement[]): (() => void) | undefined {
  const bytes = encodeModule({
    groups: [[{ name: 'run', params: [], body }]],
  });
  if (!WebAssembly.validate(bytes)) return undefined;
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  return exports[0] as () => void;
}

function body(count: number, step: Step, value: Expression): Statement[] {
  const chains = Array.from({ length: count }, () => local('v128'));
  const [factor, index] = [local('v128'), local('i32')];
  const steps = chains.map((chain) => set(chain, step(chain, factor)));
  return [
    set(factor, value),
    ...chains.map((chain, i) => set(chain, f32x4(i))),
    ...loop({ index, end: i32(ROUNDS) }, Array.from({ length: STEPS / count }, () => steps).flat()),
    ...chains.map((chain, i) => store('v128', { address: i32(16 * i) }, chain)),
  ];
}

function fastestOf(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  const begin = performance.now();
  // Sixteen at once, for clocks of a tenth of a millisecond.
  for (let now = begin; now - begin < TRIAL_MS; ) {
    for (let i = 0; i < 16; i++) run();
    const end = performance.now();
    least = Math.min(least, end - now);
    now = end;
  }
  return least;
}
