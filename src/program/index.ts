/** Package entry `weft-vm/program`: programs written in TypeScript, and eager arrays. */
export * from './operators.ts';
export { array, NdArray, type ReduceOptions } from './nd-array.ts';
export type { Index } from './index-array.ts';
export type { Operand } from './operand.ts';
export {
  type ArraySpec,
  bf16,
  bool,
  f16,
  f32,
  f64,
  i16,
  i32,
  i64,
  i8,
  u16,
  u32,
  u64,
  u8,
} from './data/value-spec.ts';
export { type Program, program } from './define-program.ts';
export type { ProgramOptions } from './program.ts';
export { configure } from './runners/shared-runners.ts';
export { type Counters, counters, type RunnerOptions } from './runners/runner.ts';
export { If, loop, repeatTimes, scan, type ScanOptions } from './control-flow.ts';
export { data, type DataType, match } from './data/data.ts';
export { DataValue } from './data/data-value.ts';
export type { Spec } from './data/value-spec.ts';
export { scope } from './scope.ts';
export { grad, type GradOptions, valueAndGrad } from './transforms/grad.ts';
export { jvp } from './transforms/jvp.ts';
export { vjp } from './transforms/vjp.ts';
export { vmap, type VmapOptions } from './transforms/vmap/vmap.ts';
export { stopGradient } from './transforms/custom-gradient.ts';
export { customGradient } from './transforms/custom-gradient.ts';
/** Random numbers by explicit keys, on all devices the same. */
export * as random from './random/random.ts';
