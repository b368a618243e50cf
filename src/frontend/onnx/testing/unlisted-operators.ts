import { isOperatorCall } from '../../../compiler/ir/operators/operator-name.ts';
import { postOrder } from '../../../compiler/ir/walk/visit.ts';
import { importOnnx } from '../import-onnx.ts';

/** Operators by which importers read sizes and repeat operands, and those of the graph's own nodes. */
const PLUMBING =
  /(^|_)sizes$|^(dims_tensor|sizes_of|tensor_of|assert|stop|as_any|signed_sizes|slice_indices|int_.*|dim|constant|broadcast_to)$/;

/**
 * The core operators that a model becomes and `makes` does not list, and whether it becomes any. Throws what
 * {@link importOnnx} throws.
 */
export function unlistedOperators(
  model: Uint8Array,
  makes: string,
): { readonly unlisted: readonly string[]; readonly isEmpty: boolean } {
  const names = new Set<string>();
  for (const fn of importOnnx(model).functions.values()) {
    for (const expr of postOrder(fn.body)) {
      if (isOperatorCall(expr)) names.add(expr.callee.name);
    }
  }
  const listed = new Set(makes.split(' '));
  const unlisted = [...names].filter((name) => !listed.has(name) && !PLUMBING.test(name));
  return { unlisted, isEmpty: names.size === 0 };
}
