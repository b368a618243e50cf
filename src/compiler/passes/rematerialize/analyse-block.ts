import { isUnknownDim } from '../../../core/dim-symbols.ts';
import type { BlockTable } from '../../ir/block.ts';
import type { Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import { freeVariables } from '../../ir/free-variables.ts';
import { postOrder } from '../../ir/visit.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { mentionedIn } from '../dim-names.ts';
import { callWork, sizesOf } from '../fuse/kernel-work.ts';
import { type BlockPlans, valuesOf } from '../plan-memory/block-plans.ts';
import { overwrittenParameter } from '../plan-memory/overwrites.ts';
import { TensorAliases } from '../plan-memory/tensor-aliases.ts';
import type { BlockNode } from './block-nodes.ts';

/** A function whose steps are looked at, with the plan of its memory. */
export interface PlannedFunction {
  readonly fn: FunctionExpr;
  readonly blocks: BlockTable;
  readonly plans: BlockPlans;
}

/** The steps of the body of a function, and its result. */
export function analyseBlock(
  { fn, blocks, plans }: PlannedFunction,
  types: TypeInference,
): readonly BlockNode[] {
  const plan = plans.of(fn.body);
  const { steps } = plan.block;
  const aliases = new TensorAliases(blocks);
  const indices = new Map<Expr, number>(steps.map(({ variable }, i) => [variable, i]));
  const kernels = new Map(plan.kernels.map((kernel) => [kernel.step, kernel]));
  const symbols = new Set(fn.params.flatMap(mentionedIn));
  const work = new WorkOfKernels(fn, types);
  const values = valuesOf(plan.block);
  const reads = values.map((value) => freeVariables(value));
  const inKernels = readByKernelsOnly(reads, (step) => kernels.has(step));
  return values.map((value, i) => {
    const kernel = kernels.get(i);
    const variable = steps[i]?.variable;
    const indexOf = (read: VarExpr): number[] => {
      const index = indices.get(read);
      return index === undefined ? [] : [index];
    };
    const isMovable = kernel !== undefined && isSized(kernel.primitive, symbols);
    const isInside = variable !== undefined && !aliases.escapes(variable);
    const isRepeatable =
      isMovable &&
      isInside &&
      inKernels(variable) &&
      aliases.namesOf(variable).length === 1 &&
      overwrittenParameter(kernel.primitive, types.operators) === undefined;
    return {
      step: steps[i],
      value,
      reads: (reads[i] ?? []).flatMap(indexOf),
      holds: (reads[i] ?? []).map((read) => aliases.rootOf(read)).flatMap(indexOf),
      byteLength: kernel?.interval.size ?? 0,
      innerBytes: plan.innerBytes[i] ?? 0,
      escapes: kernel !== undefined && !isInside,
      isMovable,
      isRepeatable,
      work: kernel === undefined ? 0 : work.of(kernel.primitive),
    };
  });
}

/** Returns true if all sizes in a primitive function are numbers, or symbols of parameters. */
function isSized(primitive: FunctionExpr, symbols: ReadonlySet<string>): boolean {
  return postOrder(primitive)
    .flatMap(mentionedIn)
    .every((symbol) => symbols.has(symbol) && !isUnknownDim(symbol));
}

/** Returns a test for variables that only kernels read. */
function readByKernelsOnly(
  reads: readonly (readonly VarExpr[])[],
  isKernel: (step: number) => boolean,
): (variable: VarExpr) => boolean {
  const others = new Set(reads.flatMap((read, step) => (isKernel(step) ? [] : read)));
  return (variable) => !others.has(variable);
}

/** The work of kernels, at usual sizes. */
class WorkOfKernels {
  readonly #types: TypeInference;
  readonly #sizes: ReturnType<typeof sizesOf>;

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#types = types;
    this.#sizes = sizesOf(fn);
  }

  of({ body }: FunctionExpr): number {
    let sum = 0;
    for (const expr of postOrder(body)) {
      if (expr.kind === 'call') sum += callWork(expr, this.#types, this.#sizes);
    }
    return sum;
  }
}
