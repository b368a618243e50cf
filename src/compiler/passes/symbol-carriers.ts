import { formatDim } from '../../core/dim.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { TensorType } from '../../core/primitive-function.ts';
import { undeterminedDims } from '../../ops/bind-attributes.ts';
import { type CallExpr, type FunctionExpr, formatSpan, type VarExpr } from '../ir/expr.ts';

/**
 * Parameters of the function around a kernel that the kernel has to be given too, although it does
 * not read them: their shapes tell symbols in its attributes. An example is a table that is cut to
 * a length which only another tensor has.
 *
 * Throws UnsupportedError for a symbol that no parameter has in its type.
 */
export function symbolCarriers(
  calls: readonly CallExpr[],
  known: readonly TensorType[],
  fn: FunctionExpr,
): readonly VarExpr[] {
  const operators = calls.flatMap(({ callee, attributes }) =>
    callee.kind === 'operator' ? [{ op: callee.name, attributes }] : [],
  );
  let missing = undeterminedDims(operators, known);
  const types = [...known];
  const carriers: VarExpr[] = [];
  for (const param of missing.length === 0 ? [] : fn.params) {
    if (param.type?.kind !== 'tensor') continue;
    const rest = undeterminedDims(operators, [...types, param.type]);
    if (rest.length === missing.length) continue;
    carriers.push(param);
    types.push(param.type);
    missing = rest;
  }
  const [dim] = missing;
  if (dim === undefined) return carriers;
  const span = calls.find((call) => call.span !== undefined)?.span;
  throw new UnsupportedError({
    where: formatSpan(span, operators.map(({ op }) => op).join(', ')),
    got: `the dimension ${formatDim(dim)} in an attribute`,
    expected: 'dimensions that follow from those of the kernel or of parameters',
    remedy: 'Name the dimension in the type of a parameter of the function.',
  });
}
