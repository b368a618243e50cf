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
  type SpecOf,
  u16,
  u32,
  u64,
  u8,
} from './data/spec.ts';
export { type Program, program, type Self } from './define-program.ts';
export type { ProgramOptions } from './program.ts';
export { configure } from './configure.ts';
export { type Counters, counters, type RunnerOptions } from './runners/runner.ts';
export { If, loop, repeatTimes, scan, type ScanOptions } from './control-flow.ts';
export {
  type AllCases,
  type Cases,
  data,
  type DataType,
  match,
  type ResultOfCases,
} from './data/data.ts';
export type { DataTree } from './data/data-tree.ts';
export { DataValue } from './data/data-value.ts';
export type {
  ConstructorSpecs,
  DataSpec,
  FieldSpecs,
  LeafSpec,
  SelfSpec,
  Spec,
} from './data/value-spec.ts';
export type {
  FieldsOf,
  GivenFields,
  GivenFor,
  Like,
  ResultOf,
  Returned,
  ValueOf,
} from './data/value-types.ts';
export { scope } from './scope.ts';
export {
  type ArgumentsLike,
  type Derivatives,
  grad,
  type GradOf,
  type GradOptions,
  valueAndGrad,
  type ValueAndGradOf,
} from './transforms/grad.ts';
export { jvp, type TangentsLike } from './transforms/jvp.ts';
export { vjp } from './transforms/vjp.ts';
export { type Axes, vmap, type VmapOf, type VmapOptions } from './transforms/vmap/vmap.ts';
export { stopGradient } from './transforms/stop-gradient.ts';
export { type AdjointArguments, customGradient } from './transforms/custom-gradient.ts';
/** Random numbers by explicit keys, on all devices the same. */
export * as random from './random/random.ts';
