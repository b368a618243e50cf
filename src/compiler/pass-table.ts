import type { Operators } from '../ops/operators.ts';
import { checkedPass } from './checked-pass.ts';
import { PASS, pipeline } from './compile.ts';
import { isElaborated } from './inference/elaborate.ts';
import { checkOptions, listOf, requireKind } from '../core/check-options.ts';
import { type SourceTexts, TEXTS } from './inference/checks/type-diagnostics.ts';
import { requireModule } from './ir/require-module.ts';
import type { Module } from './ir/expr.ts';
import { TypeInference } from './inference/type-inference.ts';
import type { DimBindings } from './passes/dims/bind-dims.ts';
import type { ModuleDispatch } from './passes/dispatch-by-shape/dispatch-by-shape.ts';
import { instrumented, INSTRUMENTS, type PassInstrument } from './instruments/pass-instrument.ts';
import { inferTypes } from './passes/infer-types.ts';
import type { Pass } from './passes/pass.ts';
import { isPassName } from './passes/pass-names.ts';
import { toAnf } from './passes/to-anf.ts';
import { toGraph } from './passes/to-graph.ts';
import type { OnRewrite } from './rewriting/rewrite-rule.ts';

/** Parameters that passes of the table take. */
export interface PassParameters {
  /** Numbers for symbolic dimensions of inputs. */
  readonly dims?: DimBindings | undefined;
  /** Intervals of sizes to make clones for. */
  readonly dispatch?: ModuleDispatch | undefined;
  /** The most bytes that a function may hold; default: any number. */
  readonly memoryBudget?: number | undefined;
}

/** The passes of `compile`, each once, in the order in which it begins with them. */
export function allPasses(parameters: PassParameters = {}): readonly Pass[] {
  checkOptions<PassParameters>('allPasses', parameters, {
    dims: 'sizes',
    dispatch: 'object',
    memoryBudget: 'count',
  });
  const { dims, dispatch = {}, memoryBudget = Number.MAX_SAFE_INTEGER } = parameters;
  const passes = new Map<string, Pass>();
  for (const pass of pipeline({ dims, dispatch, memoryBudget, devices: ['webgpu', 'wasm'] })) {
    if (!passes.has(pass.name)) passes.set(pass.name, pass);
  }
  return [...passes.values()];
}

/** Passes that work on a module as it is written. */
const UNTYPED: ReadonlySet<string> = new Set([inferTypes, toGraph, toAnf].map(({ name }) => name));

/**
 * Runs passes one after another. Types are inferred before the first that needs them. `texts` are the
 * sources by the name in spans, for messages; `onRewrite` is called for each rewrite rule that applies, `onWarning` for what is
 * allowed and yet odd, `instruments` of each pass. What passes leave that are not of this compiler is verified:
 * TypeCheckError names them.
 */
export function runPasses(
  module: Module,
  passes: readonly Pass[],
  options: {
    texts?: SourceTexts | undefined;
    operators?: Operators | undefined;
    onRewrite?: OnRewrite | undefined;
    instruments?: readonly PassInstrument[] | undefined;
    onWarning?: ((message: string) => void) | undefined;
  } = {},
): Module {
  requireModule('runPasses', module);
  requireKind('runPasses', listOf(PASS), ['passes that are', passes]);
  checkOptions('runPasses', options, {
    texts: TEXTS,
    operators: 'operators',
    onRewrite: 'function',
    instruments: INSTRUMENTS,
    onWarning: 'function',
  });
  const { texts, operators, onRewrite, instruments = [], onWarning } = options;
  const context = { types: new TypeInference(undefined, operators), texts, onRewrite, onWarning };
  let current = module;
  for (const pass of passes) {
    if (!UNTYPED.has(pass.name) && !isElaborated(current))
      current = inferTypes.run(current, context);
    context.types.declare(current);
    const verified = isPassName(pass.name) ? pass : checkedPass(pass);
    current = instrumented(verified, instruments).run(current, context);
  }
  return current;
}
