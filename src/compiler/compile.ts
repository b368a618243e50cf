import type { Executable } from '../bytecode/executable-file.ts';
import { generateCode } from './codegen.ts';
import type { SourceTexts } from './inference/type-diagnostics.ts';
import type { Module } from './ir/expr.ts';
import { bindDims, type DimBindings } from './passes/bind-dims.ts';
import { eliminateCommonSubexpressions } from './passes/eliminate-common-subexpressions.ts';
import { foldBatchNorm } from './passes/fold-batch-norm.ts';
import { foldConstants } from './passes/fold-constants.ts';
import { fuse } from './passes/fuse.ts';
import { inferTypes } from './passes/infer-types.ts';
import { nameUnknownDims } from './passes/name-unknown-dims.ts';
import type { Pass } from './passes/pass.ts';
import { simplify } from './passes/simplify.ts';
import { toAnf } from './passes/to-anf.ts';
import { toGraph } from './passes/to-graph.ts';
import { TypeInference } from './type-inference.ts';

export type { Executable };

export interface CompileOptions {
  /** Numbers for the symbolic dimensions of inputs. */
  readonly dims?: DimBindings | undefined;
  /** Called with the module as it came (`source`) and after each pass. */
  readonly dump?: ((pass: string, module: Module) => void) | undefined;
  /** Texts of programs by the name in spans, so that errors of types show the line. */
  readonly texts?: SourceTexts | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** The passes in order. Dead code needs none: in graph form it is what nothing refers to. */
function pipeline(dims: DimBindings): readonly Pass[] {
  return [
    bindDims(dims),
    inferTypes,
    nameUnknownDims,
    toGraph,
    foldConstants,
    simplify,
    foldBatchNorm,
    foldConstants,
    eliminateCommonSubexpressions,
    fuse,
    toAnf,
  ];
}

/**
 * Compiles a module to an executable. Equal modules give equal bytes.
 *
 * Throws TypeCheckError or ShapeError for a module that is not well-typed, UnsupportedError for a
 * dimension that has no number.
 */
export function compile(module: Module, options: CompileOptions = {}): Executable {
  const { dims = {}, dump, texts, onProgress } = options;
  const passes = pipeline(dims);
  const context = { types: new TypeInference(), texts };
  dump?.('source', module);
  let current = module;
  for (const [index, pass] of passes.entries()) {
    current = pass.run(current, context);
    dump?.(pass.name, current);
    onProgress?.(index + 1, passes.length + 1);
  }
  const executable = generateCode(current, context.types);
  onProgress?.(passes.length + 1, passes.length + 1);
  return executable;
}
