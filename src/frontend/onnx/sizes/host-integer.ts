import { call, ifElse, int } from '../../../compiler/ir/build.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Dim, DimOperator } from '../../../core/dims/dim.ts';
import type { FunctionFrame } from '../graph-scope.ts';

const SCALAR_OPERATORS: Readonly<Record<Exclude<DimOperator, 'min' | 'max'>, string>> = {
  add: 'int_add',
  sub: 'int_sub',
  mul: 'int_mul',
  floordiv: 'int_floordiv',
  mod: 'int_mod',
};

export function hostInteger(dim: Dim, frame: FunctionFrame): Expr {
  if (typeof dim === 'number') return int(dim);
  if (typeof dim === 'string') {
    const tensor = frame.carrier(dim);
    const type = tensor?.kind === 'var' ? tensor.type : undefined;
    if (tensor === undefined || type?.kind !== 'tensor') {
      throw new Error(`internal: nothing has the dimension ${dim}`);
    }
    return call('dim', [tensor], { axis: type.shape.indexOf(dim) });
  }
  const left = hostInteger(dim.left, frame);
  const right = hostInteger(dim.right, frame);
  if (dim.op === 'min') return ifElse(call('int_lt', [left, right]), left, right);
  if (dim.op === 'max') return ifElse(call('int_lt', [left, right]), right, left);
  return call(SCALAR_OPERATORS[dim.op], [left, right]);
}
