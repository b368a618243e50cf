import { Executable } from '../bytecode/file/executable-file.ts';
import {
  checkOptions,
  fits,
  having,
  listOf,
  oneOf,
  type OptionKinds,
} from '../core/check-options.ts';
import type { RatesOfBoth } from '../core/contracts/device-rates.ts';
import { compileInSteps, countCalls, finish } from './compile-in-steps.ts';
import { plainSymbols } from './inference/declarations.ts';
import { TEXTS, TypeDiagnostics } from './inference/checks/type-diagnostics.ts';
import { type InsertedPass, insertPasses } from './insert-passes.ts';
import { INSTRUMENTS } from './instruments/pass-instrument.ts';
import { CompileBudget } from './ir/compile-budget.ts';
import { formatSpan, type FunctionExpr, type Module } from './ir/expr.ts';
import { requireNodes } from './ir/require-nodes.ts';
import type { Type } from './ir/type.ts';
import { chooseLayouts } from './passes/choose-layouts/choose-layouts.ts';
import { dispatchFor } from './passes/dispatch-by-shape/dispatch-by-shape.ts';
import { expandCompositions } from './passes/expand-compositions.ts';
import { expandTraining } from './passes/expand-training.ts';
import { gradient } from './passes/gradient/gradient.ts';
import { inferTypes } from './passes/infer-types.ts';
import type { Pass } from './passes/pass.ts';
import { rematerialize } from './passes/rematerialize/rematerialize.ts';
import { rewriteRules } from './passes/rewrite-rules.ts';
import {
  type CompileOptions,
  type CompilerParts,
  OPTIONAL_PASSES,
  type PassMaker,
  pipeline as pipelineOf,
} from './pipeline.ts';
import { PassVerifier } from './verify/verify-pass.ts';

export {
  type CompileOptions,
  type DevicePair,
  OPTIONAL_PASSES,
  type OptionalPass,
} from './pipeline.ts';
export { finish } from './compile-in-steps.ts';
export { Executable };

/** All parts, at hand. */
export const PARTS: CompilerParts = {
  loaded: new Map<string, PassMaker>([
    ['expand-compositions', expandCompositions],
    ['expand-training', expandTraining],
    ['gradient', gradient],
    ['choose-layouts', chooseLayouts],
    ['dispatch-by-shape', dispatchFor],
    ['rematerialize', rematerialize],
  ]),
  withOwnPasses(steps, { passes = [], rules = [], operators }) {
    const table = rules.length > 0 && rewriteRules('rules', rules, { operators });
    const own: InsertedPass[] = table ? [{ pass: table, before: 'simplify' }] : [];
    const checked = steps.map((step) =>
      step.pass === inferTypes ? { ...step, pass: inferAndCheck } : step,
    );
    return insertPasses(checked, [...own, ...passes]);
  },
  newVerifier: (operators, source) => new PassVerifier(operators, source),
};

/**
 * The passes that `compile` runs with these options, in order, with those of the caller. Throws UsageError for
 * a place that does not exist.
 */
export function pipeline(options: CompileOptions = {}): readonly Pass[] {
  checkOptions('pipeline', options, COMPILE_OPTIONS);
  return pipelineOf(options, PARTS);
}

export const PASS = having('{ name, run }', 'run');

/** Kinds of {@link CompileOptions}. */
export const COMPILE_OPTIONS: OptionKinds<CompileOptions> = {
  dims: 'sizes',
  without: listOf(oneOf(...OPTIONAL_PASSES)),
  dump: 'function',
  texts: TEXTS,
  dispatch: 'object',
  onDispatch: 'function',
  devices: 'list',
  rates: ['{ webgpu, wasm }', areRates],
  onPlacement: 'function',
  onWarning: 'function',
  memoryBudget: ['a number of bytes', (value) => fits('count', value)],
  onMemoryPlan: 'function',
  onProgress: 'function',
  compileLimits: 'object',
  verify: 'boolean',
  sourceMap: 'boolean',
  operators: 'operators',
  passes: listOf(['{ pass, before } or { pass, after }', isPassWithPlace]),
  rules: listOf('text'),
  instruments: INSTRUMENTS,
};

function areRates(value: unknown): boolean {
  const { webgpu, wasm } = Object(value) as Partial<RatesOfBoth>;
  return fits('object', webgpu) && fits('object', wasm);
}

function isPassWithPlace(value: unknown): boolean {
  return fits(PASS, (Object(value) as Partial<InsertedPass>).pass);
}

/**
 * Compiles a module to an executable. Equal modules give equal bytes.
 *
 * Throws TypeCheckError or ShapeError for a module that is not well-typed, UnsupportedError for an
 * operator that `operators` does not have and for a result whose size nothing tells, UsageError for `dims`
 * that name nothing, for `operators` without the core ones and for a place of `passes` that does not exist,
 * CompileLimitError at a limit.
 */
export function compile(module: Module, options: CompileOptions = {}): Executable {
  checkOptions('compile', options, COMPILE_OPTIONS);
  requireNodes('compile', module);
  const budget = new CompileBudget(options.compileLimits);
  const steps = budget.run(() => {
    budget.addWrittenCalls(countCalls(module));
    return compileInSteps(module, options, PARTS);
  });
  return Executable.of(finish(steps, (step) => budget.run(step)));
}

/**
 * The pass `infer-types` for programs that somebody wrote: `bounds` and `results` of global functions have to speak of
 * what these have. Throws TypeCheckError.
 */
const inferAndCheck: Pass = {
  name: inferTypes.name,
  run(module, context) {
    const typed = inferTypes.run(module, context);
    const diagnostics = new TypeDiagnostics(context.texts);
    for (const [name, fn] of typed.functions) checkFacts(name, fn, diagnostics);
    diagnostics.throwIfAny();
    return typed;
  },
};

function checkFacts(
  name: string,
  { params, resultType, attributes, span }: FunctionExpr,
  diagnostics: TypeDiagnostics,
): void {
  const { bounds = {}, resultNames = [] } = attributes;
  const where = formatSpan(span, `@${name}`);
  const types = params.flatMap(({ type }): Type[] => (type?.kind === 'tensor' ? [type] : []));
  const symbols = plainSymbols(types);
  for (const symbol of Object.keys(bounds)) {
    if (symbols.has(symbol)) continue;
    diagnostics.complain(span, {
      where: `${where}, bounds`,
      got: `the symbol ${symbol}`,
      expected: 'one that is a dimension of a parameter that is a tensor',
    });
  }
  const count = resultType?.kind === 'tuple' ? resultType.fields.length : 1;
  if (resultNames.length <= count) return;
  diagnostics.complain(span, {
    where: `${where}, results`,
    got: `${resultNames.length} names`,
    expected: count === 1 ? 'one, of the result' : `${count}, one for each field of the tuple`,
  });
}
