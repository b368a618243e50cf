import type { Assembled } from '../bytecode/build/draft.ts';
import { generateCode } from './codegen/codegen.ts';
import type { CompileLimits } from '../core/limits/compile-limits.ts';
import { type RatesOfBoth, usualRates } from '../core/contracts/device-rates.ts';
import { internalError, UsageError } from '../core/errors.ts';
import { CORE_OPERATORS } from '../ops/tables/core-operators.ts';
import type { Operators } from '../ops/operators.ts';
import { budgetInForce } from './ir/compile-budget.ts';
import type { SourceTexts } from './inference/type-diagnostics.ts';
import { checkNesting } from './ir/text/check-nesting.ts';
import type { CallExpr, Module } from './ir/expr.ts';
import type * as RarePasses from './passes/rare-passes.ts';
import type { DispatchReport } from './passes/dispatch-by-shape/dispatch.ts';
import type { MemoryPlanReport } from './passes/plan-memory/memory-report.ts';
import { allocateAdtTags } from './passes/allocate-adt-tags.ts';
import { bindDims, checkDimNames, type DimBindings } from './passes/bind-dims.ts';
import type { ModuleDispatch } from './passes/dispatch-by-shape/dispatch-by-shape.ts';
import { eliminateCommonSubexpressions } from './passes/eliminate-common-subexpressions.ts';
import { foldAffineIntoWeights } from './passes/fold-affine/fold-affine-into-weights.ts';
import { foldConstants } from './passes/fold-constants.ts';
import { assignDevices } from './passes/fuse/assign-devices.ts';
import { fuse, separate } from './passes/fuse/fuse.ts';
import { asksForDerivatives } from './passes/gradient/asks-for-derivatives.ts';
import { requireCoreOperators } from './inference/require-core-operators.ts';
import { inferTypes } from './passes/infer-types.ts';
import { inline } from './passes/inline.ts';
import { lambdaLift } from './passes/lift-lambdas/lambda-lift.ts';
import { nameUnknownDims } from './passes/name-unknown-dims.ts';
import { liveness } from './passes/liveness.ts';
import { lowerMatch } from './passes/match/lower-match.ts';
import { lowerShapes } from './passes/lower-shapes/lower-shapes.ts';
import type { Pass } from './passes/pass.ts';
import { isPassName } from './passes/pass-names.ts';
import { planMemory } from './passes/plan-memory/plan-memory.ts';
import { type Placement, placeDevices } from './passes/place-devices.ts';
import { recognizeOperators } from './passes/recognize-operators.ts';
import { simplify } from './passes/simplify.ts';
import { tailCalls } from './passes/tail-calls.ts';
import { splitTuples } from './passes/split-tuples/split-tuples.ts';
import { toAnf } from './passes/to-anf.ts';
import { toGraph } from './passes/to-graph.ts';
import { widenFloat16 } from './passes/widen-float16.ts';
import { postOrder } from './ir/walk/visit.ts';
import { TypeInference } from './inference/type-inference.ts';
import type { InsertedPass, PipelineStep } from './insert-passes.ts';
import { instrumented, type PassInstrument } from './instruments/pass-instrument.ts';
import type { PassVerifier } from './verify/verify-pass.ts';

export type { Assembled };

/** How a module is compiled, and who hears of it. */
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
  /** Hears how many passes are done, of all. */
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
  /** Hear of every pass before and after it runs. */
  readonly instruments?: readonly PassInstrument[] | undefined;
}

/** Parts of the compiler that few programs need, so that a page need not have them. */
export interface CompilerParts {
  /** The pass for programs that ask for derivatives. */
  readonly gradient?: Pass | undefined;
  /** The pass for programs that call operators of training. */
  readonly expandTraining?: Pass | undefined;
  /** For `dispatch` and `memoryBudget`, and for operators that are compositions. */
  readonly rarePasses?: typeof RarePasses | undefined;
  /** Inserts the passes and rules of the options `passes` and `rules`. */
  readonly withOwnPasses?: (
    steps: readonly PipelineStep[],
    options: CompileOptions,
  ) => readonly PipelineStep[];
  /** Makes the verifier for the option `verify`. */
  readonly newVerifier?: (operators: Operators, source: Module) => PassVerifier;
}

/** In the place of the pass `gradient`, for programs that have no use for it. */
const withoutDerivatives: Pass = {
  name: 'gradient',
  run(module) {
    if (asksForDerivatives(module)) throw internalError('a derivative without the pass for it');
    return module;
  },
};

/** Takes the place of the pass `expand-training`, for programs that have no use for it. */
const withoutTraining: Pass = { name: 'expand-training', run: (module) => module };

/** Keeps the place of a pass of which there is no need. */
const absent = (name: string): Pass => ({
  name,
  run() {
    throw internalError(`the pass ${name} was not loaded`);
  },
});

/** Returns true if a compilation with these options needs `rarePasses`. */
export function needsRarePasses({ dispatch, memoryBudget, operators }: CompileOptions): boolean {
  const isAsked = dispatch !== undefined || memoryBudget !== undefined;
  return isAsked || operators?.hasCompositions === true;
}

/** The devices that a program may be placed on. */
export type DevicePair = readonly ['webgpu', 'wasm'];

/** Passes that a program means the same without. */
export const OPTIONAL_PASSES = [
  'inline',
  'to-graph',
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

/** The name of a pass that may be left out. */
export type OptionalPass = (typeof OPTIONAL_PASSES)[number];

/**
 * The passes that `compile` runs with these options, in order, with those of the caller. Throws UsageError for
 * a place that does not exist.
 */
export function pipeline(options: CompileOptions, parts: CompilerParts): readonly Pass[] {
  const { devices, instruments = [] } = options;
  requireDevices(devices);
  const steps = pipelineSteps(options, parts);
  return (parts.withOwnPasses?.(steps, options) ?? steps).flatMap(({ pass, runs }) =>
    runs ? [instrumented(pass, instruments)] : [],
  );
}

/** All passes in order. Dead code needs none: in graph form it is what nothing refers to. */
function pipelineSteps(
  options: CompileOptions,
  { gradient = withoutDerivatives, expandTraining = withoutTraining, rarePasses }: CompilerParts,
): readonly PipelineStep[] {
  const {
    dims = {},
    without = [],
    dispatch,
    onDispatch,
    onPlacement,
    memoryBudget,
    onMemoryPlan,
    operators,
    devices,
    rates = USUAL_RATES,
  } = options;
  const reasons = new WeakMap<CallExpr, string>();
  const left = new Set<string>(without);
  const step = (pass: Pass, { runs = true, name = pass.name } = {}): PipelineStep => {
    return { name, pass, runs: runs && !left.has(pass.name) };
  };
  const again = dispatch === undefined ? [] : [step(simplify), step(foldConstants)];
  return [
    step(bindDims(dims)),
    step(inferTypes),
    step(rarePasses?.expandCompositions ?? absent('expand-compositions'), {
      runs: operators?.hasCompositions === true,
    }),
    step(expandTraining),
    step(inline),
    step(nameUnknownDims),
    step(gradient),
    step(toGraph),
    step(foldConstants),
    step(simplify),
    step(recognizeOperators),
    step(widenFloat16),
    step(foldAffineIntoWeights),
    step(foldConstants),
    step(rarePasses?.dispatchByShape(dispatch ?? {}, onDispatch) ?? absent('dispatch-by-shape'), {
      runs: dispatch !== undefined,
    }),
    // A clone knows more of its sizes than the function that it was made of.
    ...again,
    step(eliminateCommonSubexpressions),
    step(assignDevices({ rates, reasons }), { runs: devices !== undefined }),
    step(placeDevices(onPlacement, reasons)),
    step(left.has('fuse') ? separate : fuse, { name: 'fuse' }),
    step(toAnf),
    step(lowerMatch),
    step(allocateAdtTags),
    step(tailCalls),
    step(lambdaLift),
    step(splitTuples),
    step(rarePasses?.rematerialize(memoryBudget ?? Infinity) ?? absent('rematerialize'), {
      runs: memoryBudget !== undefined,
    }),
    step(planMemory(onMemoryPlan)),
    step(lowerShapes),
    step(liveness),
  ];
}

const USUAL_RATES: RatesOfBoth = { webgpu: usualRates('integrated'), wasm: usualRates('wasm') };

function requireDevices(devices: unknown): void {
  if (devices === undefined || JSON.stringify(devices) === '["webgpu","wasm"]') return;
  throw new UsageError({
    where: 'devices',
    got: JSON.stringify(devices),
    expected: '["webgpu", "wasm"]',
    remedy: 'Leave it out for a program on one device.',
  });
}

/** Runs steps one after the other without waiting between them. */
export function finish<T>(steps: Generator<void, T>, run: <S>(step: () => S) => S): T {
  for (;;) {
    const step = run(() => steps.next());
    if (step.done === true) return step.value;
  }
}

/** Compiles a module, one pass at a time, within the budget in force. */
export function* compileInSteps(
  module: Module,
  options: CompileOptions,
  parts: CompilerParts,
): Generator<void, Assembled> {
  const {
    dump,
    texts,
    onProgress,
    onPlacement,
    onWarning,
    verify,
    operators = CORE_OPERATORS,
  } = options;
  requireCoreOperators(operators);
  checkNesting(module);
  checkDimNames(module, options.dims ?? {});
  const placements = new Map<string, Placement>();
  const passes = pipeline(
    {
      ...options,
      onPlacement: (placement) => placements.set(JSON.stringify(placement), placement),
    },
    parts,
  );
  const context = { types: new TypeInference(undefined, operators), texts, onWarning };
  const verifier = verify === true ? parts.newVerifier?.(operators, module) : undefined;
  dump?.('source', module);
  let current = module;
  for (const [index, pass] of passes.entries()) {
    enterPass(pass.name);
    current = pass.run(current, context);
    if (MULTIPLIERS.has(pass.name) || !isPassName(pass.name)) {
      budgetInForce()?.requireCalls(countCalls(current));
    }
    dump?.(pass.name, current);
    // Until types are inferred, the mistake may be that of the source.
    if (index > 0) verifier?.verify(pass.name, current);
    onProgress?.(index + 1, passes.length + 1);
    yield;
  }
  enterPass('code generation');
  const placed = [...placements.values()];
  for (const placement of placed) onPlacement?.(placement);
  const program = generateCode(withPlacements(current, placed), context.types, options);
  onProgress?.(passes.length + 1, passes.length + 1);
  return program;
}

/** Passes after which there may be more calls than before, by more than a factor. */
const MULTIPLIERS: ReadonlySet<string> = new Set(['inline', 'dispatch-by-shape', 'lower-match']);

export function countCalls({ functions }: Module): number {
  let count = 0;
  for (const fn of functions.values()) {
    for (const { kind } of postOrder(fn)) if (kind === 'call') count++;
  }
  return count;
}

function enterPass(name: string): void {
  const budget = budgetInForce();
  if (budget !== undefined) budget.place = name;
}

/** The session and `weft inspect` read the placements from the executable. */
function withPlacements(module: Module, placements: readonly Placement[]): Module {
  if (placements.length === 0) return module;
  return { ...module, metadata: { ...module.metadata, placements: JSON.stringify(placements) } };
}
