import { isElaborated } from '../inference/elaborate.ts';
import type { SourceTexts } from '../inference/type-diagnostics.ts';
import type { Module } from '../ir/expr.ts';
import { TypeInference } from '../type-inference.ts';
import { bindDims, type DimBindings } from './bind-dims.ts';
import { dispatchByShape, type ModuleDispatch } from './dispatch-by-shape.ts';
import { eliminateCommonSubexpressions } from './eliminate-common-subexpressions.ts';
import { foldBatchNorm } from './fold-batch-norm.ts';
import { foldConstants } from './fold-constants.ts';
import { fuse } from './fuse.ts';
import { inferTypes } from './infer-types.ts';
import { inline } from './inline.ts';
import { nameUnknownDims } from './name-unknown-dims.ts';
import type { Pass } from './pass.ts';
import { simplify } from './simplify.ts';
import { toAnf } from './to-anf.ts';
import { toGraph } from './to-graph.ts';

/** What passes with parameters take. */
export interface PassParameters {
  readonly dims?: DimBindings | undefined;
  readonly dispatch?: ModuleDispatch | undefined;
}

/** All passes, in the order in which `compile` begins with them; some it runs twice. */
export function allPasses({ dims = {}, dispatch = {} }: PassParameters = {}): readonly Pass[] {
  return [
    bindDims(dims),
    inferTypes,
    inline,
    nameUnknownDims,
    toGraph,
    foldConstants,
    simplify,
    foldBatchNorm,
    dispatchByShape(dispatch),
    eliminateCommonSubexpressions,
    fuse,
    toAnf,
  ];
}

/** Passes that work on a module as it is written. */
const UNTYPED: ReadonlySet<Pass> = new Set([inferTypes, toGraph, toAnf]);

/** Runs passes one after another. Types are inferred before the first that needs them. */
export function runPasses(
  module: Module,
  passes: readonly Pass[],
  { texts }: { texts?: SourceTexts | undefined } = {},
): Module {
  const context = { types: new TypeInference(), texts };
  let current = module;
  for (const pass of passes) {
    if (!UNTYPED.has(pass) && !isElaborated(current)) current = inferTypes.run(current, context);
    context.types.declare(current);
    current = pass.run(current, context);
  }
  return current;
}
