import { apply, type Expression, f32x4, type Local, locals } from '../../wasm/expression.ts';
import { add, mul, sub } from '../../wasm/floats.ts';
import { binder, set, type Statement } from '../../wasm/statement.ts';
import { expOfNegative, INTRINSICS } from '../formula/wasm/wasm-intrinsics.ts';
import { type RowShape, RowWalk, type RowOfElements } from '../reduction/row-walk.wasm.ts';

/** The steps of a softmax of rows. */
interface SoftmaxRow {
  /** The largest element of each row, set by `findMaximum`. */
  readonly maximum: Local;
  readonly findMaximum: readonly Statement[];
  /** The exponentials of elements minus the maximum, divided by their sum. */
  readonly weigh: readonly Statement[];
  /** The logarithms of these: elements minus the maximum, minus the logarithm of that sum. */
  readonly weighLogarithms: readonly Statement[];
  /** In place of weights, where the maximum is minus infinity: zeros, and NaN for NaN. */
  readonly clear: readonly Statement[];
}

/** Softmax of rows `from` into rows `to`. Each row's maximum is subtracted first, so that nothing overflows. */
export function softmaxRow(shape: RowShape, from: RowOfElements, to: RowOfElements): SoftmaxRow {
  const walk = new RowWalk(shape);
  const [maximum, total, scale] = locals(3, 'v128');
  const ofMaximum = {
    // A NaN is passed over here, and makes the sum NaN.
    combine: (a: Expression, b: Expression) => apply('f32x4.pmax', a, b),
    identity: f32x4(-Infinity),
    isSum: false,
  };
  const ofSum = { combine: add, identity: f32x4(0), isSum: true };
  const powers = (value: Expression, statements: Statement[]) => {
    const bind = binder(statements);
    return expOfNegative(bind(sub(value, maximum)), bind);
  };
  const statements: Statement[] = [];
  const logarithm = INTRINSICS.log([total], binder(statements), statements);
  return {
    maximum,
    findMaximum: walk.fold(from.base, maximum, from.access, ofMaximum),
    weigh: [
      ...walk.storeAndFold(from, to, { ...ofSum, map: powers, target: total }),
      set(scale, apply('f32x4.div', f32x4(1), total)),
      ...walk.store(to, to, (value) => mul(value, scale)),
    ],
    weighLogarithms: [
      ...walk.fold(from.base, total, from.access, { ...ofSum, map: powers }),
      ...statements,
      set(scale, logarithm),
      ...walk.store(from, to, (value) => sub(sub(value, maximum), scale)),
    ],
    clear: walk.store(from, to, (value) => apply('f32x4.div', f32x4(-1), value)),
  };
}
