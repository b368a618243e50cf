import { type RatesOfBoth, usualRates } from '../core/contracts/device-rates.ts';
import { UsageError } from '../core/errors.ts';
import type { CompileLimits } from '../core/limits/compile-limits.ts';
import type { Operators } from '../ops/operators.ts';
import type { SourceTexts } from './inference/checks/type-diagnostics.ts';
import type { InsertedPass, PipelineStep } from './insert-passes.ts';
import { instrumented, type PassInstrument } from './instruments/pass-instrument.ts';
import type { CallExpr, Module } from './ir/expr.ts';
import { GRADIENT_OPERATORS } from './ir/operators/gradient-operators.ts';
import { operatorName } from './ir/operators/operator-name.ts';
import type { ScalarOperator } from './ir/operators/scalar-operator.ts';
import { TRAINING_OPERATORS } from './ir/operators/training-operators.ts';
import { postOrder } from './ir/walk/visit.ts';
import { allocateAdtTags } from './passes/allocate-adt-tags.ts';
import { bindDims, type DimBindings } from './passes/dims/bind-dims.ts';
import type { DispatchReport } from './passes/dispatch-by-shape/dispatch.ts';
import type { ModuleDispatch } from './passes/dispatch-by-shape/dispatch-by-shape.ts';
import { eliminateCommonSubexpressions } from './passes/eliminate-common-subexpressions.ts';
import { foldAffineIntoWeights } from './passes/fold-affine/fold-affine-into-weights.ts';
import { foldConstants } from './passes/fold-constants.ts';
import { assignDevices } from './passes/fuse/assign-devices.ts';
import { fuse, separate } from './passes/fuse/fuse.ts';
import { inferTypes } from './passes/infer-types.ts';
import { inline } from './passes/inline.ts';
import { lambdaLift } from './passes/lift-lambdas/lambda-lift.ts';
import { liveness } from './passes/liveness.ts';
import { lowerShapes } from './passes/lower-shapes/lower-shapes.ts';
import { lowerMatch } from './passes/match/lower-match.ts';
import { nameUnknownDims } from './passes/dims/name-unknown-dims.ts';
import type { Pass } from './passes/pass.ts';
import type { PassName } from './passes/pass-names.ts';
import type { MemoryPlanReport } from './passes/plan-memory/memory-report.ts';
import { planMemory } from './passes/plan-memory/plan-memory.ts';
import { type Placement, placeDevices } from './passes/place-devices.ts';
import { recognizeOperators } from './passes/patterns/recognize-operators.ts';
import { simplify } from './passes/simplify.ts';
import { splitTuples } from './passes/split-tuples/split-tuples.ts';
import { tailCalls } from './passes/tail-calls.ts';
import { toAnf } from './passes/to-anf.ts';
import { toGraph } from './passes/to-graph.ts';
import { widenFloat16 } from './passes/widen-float16.ts';
import type { PassVerifier } from './verify/verify-pass.ts';

/** How a module is compiled, and what is called meanwhile. */
export interface CompileOptions {
  /** Numbers for the symbolic dimensions of inputs. */
  readonly dims?: DimBindings | undefined;
  /**
   * Passes to leave out, to find the one that changes what a program computes or to see what it is
   * worth. Without `fuse` each call of an operator is a kernel of its own.
   */
  readonly without?: readonly OptionalPass[] | undefined;
  /** Called with the module as it came (`source`) and after each pass. */
  readonly dump?: ((pass: string, module: Module) => void) | undefined;
  /** Texts of programs by the name in spans, so that errors of types show the line. */
  readonly texts?: SourceTexts | undefined;
  /**
   * Makes clones of functions for intervals of sizes, chosen when they are called:
   * `{ main: { data: { 0: logarithmic({ min: 1, max: 64, base: 2 }) } } }`.
   */
  readonly dispatch?: ModuleDispatch | undefined;
  /** Called with how much larger the program became for each function that is dispatched. */
  readonly onDispatch?: ((report: DispatchReport) => void) | undefined;
  /**
   * Places parts of the program beside WebGPU wherever a run then takes less time, copies counted. Default:
   * only what WebGPU cannot run.
   */
  readonly devices?: DevicePair | undefined;
  /** Rates of these devices, by which times are estimated. Default: guesses for an integrated adapter. */
  readonly rates?: RatesOfBoth | undefined;
  /** Called with each call that runs beside WebGPU, and why. */
  readonly onPlacement?: ((placement: Placement) => void) | undefined;
  /** Called with what is allowed and yet odd, such as a clause that is never reached; each message has a place. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /**
   * The most bytes that each function may hold of values that it computes. Values that a backward pass reads are
   * computed again, where that is needed, instead of being kept; a budget that cannot be met is a UsageError. What
   * sizes without numbers or bounds take does not count. Default: nothing is computed twice to save memory.
   */
  readonly memoryBudget?: number | undefined;
  /** Called with what memory was planned for each function. */
  readonly onMemoryPlan?: ((report: MemoryPlanReport) => void) | undefined;
  /** Called with how many passes are done, of all. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** The most that compiling may take, see {@link CompileLimits}. */
  readonly compileLimits?: CompileLimits | undefined;
  /**
   * Checks the module after each pass, for tests of passes: an internal error names the pass that made a mistake.
   * Takes several times as long. Default: false.
   */
  readonly verify?: boolean | undefined;
  /**
   * Records which nodes or lines of the source each instruction comes from, for messages and
   * inspectors. Default: true.
   */
  readonly sourceMap?: boolean | undefined;
  /** The operators that the module may call: the core operators, which is the default, and others. */
  readonly operators?: Operators | undefined;
  /** Passes of your own, each with its place. What they leave is verified. */
  readonly passes?: readonly InsertedPass[] | undefined;
  /** Rewrite rules in text form, which run as the pass `rules` before `simplify`. */
  readonly rules?: readonly string[] | undefined;
  /** Called before and after each pass. */
  readonly instruments?: readonly PassInstrument[] | undefined;
}

export type DevicePair = readonly ['webgpu', 'wasm'];

/** Passes that a program means the same without. */
export const OPTIONAL_PASSES = [
  'inline',
  'to-graph',
  'choose-layouts',
  'choose-layouts',
  'fold-constants',
  'simplify',
  'recognize-operators',
  'widen-float16',
  'fold-affine-into-weights',
  'eliminate-common-subexpressions',
  'fuse',
  'tail-calls',
  'liveness',
] as const;

export type OptionalPass = (typeof OPTIONAL_PASSES)[number];

interface Compilation extends CompileOptions {
  /** Why `assign-devices` placed calls, for the report of `place-devices`. */
  readonly reasons: WeakMap<CallExpr, string>;
}

/** A pass, or how one is made for a compilation. */
export type PassMaker = Pass | ((compilation: Compilation) => Pass);

/** A place in the pipeline, and its pass: one at hand, or one that loads when it is needed. */
type PipelineEntry = {
  readonly name: PassName;
  /** Returns true if the pass runs with these options. Default: it always does. */
  readonly when?: (options: CompileOptions) => boolean;
} & (
  | { readonly pass: PassMaker; readonly load?: undefined; readonly operators?: undefined }
  | {
      readonly load: () => Promise<PassMaker>;
      /** Without `when`: what modules call that need the pass; transposes with their axes. */
      readonly operators?: readonly Pick<ScalarOperator, 'name'>[];
    }
);

const isDispatched = ({ dispatch }: CompileOptions): boolean => dispatch !== undefined;

/** All passes in order. Dead code needs none: in graph form it is what nothing refers to. */
const PIPELINE: readonly PipelineEntry[] = [
  { name: 'bind-dims', pass: ({ dims = {} }) => bindDims(dims) },
  { name: 'infer-types', pass: inferTypes },
  {
    name: 'expand-compositions',
    when: ({ operators }) => operators?.hasCompositions === true,
    load: async () => (await import('./passes/expand-compositions.ts')).expandCompositions,
  },
  {
    name: 'expand-training',
    operators: TRAINING_OPERATORS,
    load: async () => (await import('./passes/expand-training.ts')).expandTraining,
  },
  { name: 'inline', pass: inline },
  { name: 'name-unknown-dims', pass: nameUnknownDims },
  {
    name: 'gradient',
    operators: GRADIENT_OPERATORS,
    load: async () => (await import('./passes/gradient/gradient.ts')).gradient,
  },
  { name: 'to-graph', pass: toGraph },
  {
    name: 'choose-layouts',
    operators: [{ name: 'transpose0,3,1,2' }],
    load: async () => (await import('./passes/choose-layouts/choose-layouts.ts')).chooseLayouts,
  },
  { name: 'fold-constants', pass: foldConstants },
  { name: 'simplify', pass: simplify },
  { name: 'recognize-operators', pass: recognizeOperators },
  { name: 'widen-float16', pass: widenFloat16 },
  { name: 'fold-affine-into-weights', pass: foldAffineIntoWeights },
  { name: 'fold-constants', pass: foldConstants },
  {
    name: 'dispatch-by-shape',
    when: isDispatched,
    load: async () => (await import('./passes/dispatch-by-shape/dispatch-by-shape.ts')).dispatchFor,
  },
  // A clone knows more of its sizes than the function that it was made of.
  { name: 'simplify', when: isDispatched, pass: simplify },
  { name: 'fold-constants', when: isDispatched, pass: foldConstants },
  { name: 'eliminate-common-subexpressions', pass: eliminateCommonSubexpressions },
  {
    name: 'assign-devices',
    when: ({ devices }) => devices !== undefined,
    pass: ({ rates = USUAL_RATES, reasons }) => assignDevices({ rates, reasons }),
  },
  { name: 'place-devices', pass: ({ onPlacement, reasons }) => placeDevices(onPlacement, reasons) },
  { name: 'fuse', pass: ({ without }) => (without?.includes('fuse') === true ? separate : fuse) },
  { name: 'to-anf', pass: toAnf },
  { name: 'lower-match', pass: lowerMatch },
  { name: 'allocate-adt-tags', pass: allocateAdtTags },
  { name: 'tail-calls', pass: tailCalls },
  { name: 'lambda-lift', pass: lambdaLift },
  { name: 'split-tuples', pass: splitTuples },
  {
    name: 'rematerialize',
    when: ({ memoryBudget }) => memoryBudget !== undefined,
    load: async () => (await import('./passes/rematerialize/rematerialize.ts')).rematerialize,
  },
  { name: 'plan-memory', pass: ({ onMemoryPlan }) => planMemory(onMemoryPlan) },
  { name: 'lower-shapes', pass: lowerShapes },
  { name: 'liveness', pass: liveness },
];

const USUAL_RATES: RatesOfBoth = { webgpu: usualRates('integrated'), wasm: usualRates('wasm') };

/** Those of the passes with `load` that have been loaded. */
type LoadedPasses = ReadonlyMap<string, PassMaker>;

/** Parts of the compiler that a page need not have. */
export interface CompilerParts {
  readonly loaded?: LoadedPasses | undefined;
  /** Inserts the passes and rules of the options `passes` and `rules`. */
  readonly withOwnPasses?: (
    steps: readonly PipelineStep[],
    options: CompileOptions,
  ) => readonly PipelineStep[];
  /** Makes the verifier for the option `verify`. */
  readonly newVerifier?: (operators: Operators, source: Module) => PassVerifier;
}

export async function loadPasses(module: Module, options: CompileOptions): Promise<LoadedPasses> {
  // Of transposes only those to channels first lead to layouts to choose from.
  const called = new Set(
    [...module.functions.values()].flatMap(({ body }) =>
      postOrder(body).map((expr) => operatorName(expr) + (Object(expr).attributes?.perm ?? '')),
    ),
  );
  const loads = PIPELINE.flatMap(({ name, when, load, operators = [] }) => {
    if (load === undefined || when?.(options) === false) return [];
    // What compositions call is not written yet.
    const isNeeded =
      when !== undefined ||
      options.operators?.hasCompositions === true ||
      operators.some((operator) => called.has(operator.name));
    return isNeeded ? [load().then((pass) => [name, pass] as const)] : [];
  });
  return new Map(await Promise.all(loads));
}

/**
 * The passes that `compile` runs with these options, in order, with those of the caller. Throws UsageError for
 * a place that does not exist.
 */
export function pipeline(
  options: CompileOptions,
  { loaded, withOwnPasses }: CompilerParts,
): readonly Pass[] {
  const { devices, instruments = [], without } = options;
  requireDevices(devices);
  const compilation = { ...options, reasons: new WeakMap() };
  const left = new Set<string>(without);
  const steps = PIPELINE.flatMap((entry, index): readonly PipelineStep[] => {
    const { name } = entry;
    if (entry.when?.(options) === false) {
      // Not to run again is no place.
      return PIPELINE.findIndex((first) => first.name === name) < index ? [] : [{ name }];
    }
    const found = entry.load === undefined ? entry.pass : loaded?.get(name);
    const made = typeof found === 'function' ? found(compilation) : found;
    const pass = made ?? { name, run: (module) => module };
    return [left.has(pass.name) ? { name } : { name, pass }];
  });
  return (withOwnPasses?.(steps, options) ?? steps).flatMap(({ pass }) =>
    pass === undefined ? [] : [instrumented(pass, instruments)],
  );
}

function requireDevices(devices: readonly unknown[] | undefined): void {
  const isPair = devices?.length === 2 && devices[0] === 'webgpu' && devices[1] === 'wasm';
  if (devices === undefined || isPair) return;
  throw new UsageError({
    where: 'devices',
    got: JSON.stringify(devices),
    expected: '["webgpu", "wasm"]',
    remedy: 'Leave it out for a program on one device.',
  });
}
