import type { TypeInference } from '../../inference/type-inference.ts';
import type { BlockTable } from '../../ir/block.ts';
import type { CallExpr, Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import { postOrder, rewrite } from '../../ir/visit.ts';
import { overwrittenParameter } from './overwrites.ts';

/**
 * Gives kernels that ask for nothing but the shape of a tensor (see `symbolCarriers`) what replaced it, where a kernel before them
 * changed the tensor in place: its result has the same shape. Otherwise the tensor would still be in use, and the kernel that changes
 * it would have to copy all of it first. In A-normal form.
 */
export function takeShapesFromResults(
  fn: FunctionExpr,
  blocks: BlockTable,
  { operators }: TypeInference,
): FunctionExpr {
  const replaced = new Map<Expr, CallExpr>();
  for (const root of blocks.roots()) {
    /** Results of kernels that changed a tensor in place, by the variable of the tensor. */
    const results = new Map<VarExpr, VarExpr>();
    for (const { variable, value } of blocks.of(root).steps) {
      const primitive = blocks.kernel(value);
      if (primitive === undefined || value.kind !== 'call') continue;
      const args = value.args.map((arg, i) => {
        const result = arg.kind === 'var' ? results.get(arg) : undefined;
        return result === undefined || isRead(primitive, i) ? arg : latest(results, result);
      });
      if (args.some((arg, i) => arg !== value.args[i])) replaced.set(value, { ...value, args });
      const input = overwrittenParameter(primitive, operators);
      const changed = input === undefined ? undefined : value.args[input];
      if (changed?.kind === 'var') results.set(changed, variable);
    }
  }
  if (replaced.size === 0) return fn;
  return { ...fn, body: rewrite(fn.body, (expr, original) => replaced.get(original) ?? expr) };
}

function isRead({ params, body }: FunctionExpr, index: number): boolean {
  const param = params[index];
  return param === undefined || postOrder(body).includes(param);
}

function latest(results: ReadonlyMap<VarExpr, VarExpr>, variable: VarExpr): VarExpr {
  let last = variable;
  for (let next = results.get(last); next !== undefined; next = results.get(last)) last = next;
  return last;
}
