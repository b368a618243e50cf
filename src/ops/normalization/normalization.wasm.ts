import { elementCount, normalizeAxis } from '../../core/tensor/shape.ts';
import { apply, type Expression, f32x4, local, locals } from '../../wasm/expression.ts';
import { add, mul, sub } from '../../wasm/floats.ts';
import { set, type Statement } from '../../wasm/statement.ts';
import { floatAttribute, intAttribute } from '../attributes.ts';
import { type ElementAccess, elementAccess } from '../lowering/element-access.ts';
import { rowKernel, type RowProblem } from '../reduction/row-loops.wasm.ts';
import { firstElements, RowWalk } from '../reduction/row-walk.wasm.ts';
import type { WasmCall, WasmLowering } from '../lowering/wasm-lowering.ts';
import { softmaxRow } from './softmax-row.wasm.ts';

interface Rows {
  readonly problem: RowProblem;
  readonly access: ElementAccess;
}

/** Rows along an axis of the result, whose input has the same shape. */
function rowsAlong({ output: { dtype, shape } }: WasmCall, axis: number): Rows | undefined {
  const access = elementAccess(dtype);
  if (access === undefined) return undefined;
  const size = shape[axis] ?? 1;
  const problem = {
    outer: elementCount(shape.slice(0, axis)),
    size,
    inner: elementCount(shape.slice(axis + 1)),
    elementBytes: [access.byteLength, access.byteLength] as const,
    resultSize: size,
  };
  return { problem, access };
}

/** Subtracts each row's maximum first, so that nothing overflows. */
const softmax =
  (name: 'softmax' | 'log_softmax'): WasmLowering =>
  (call) => {
    const axis = normalizeAxis(
      intAttribute(call.attributes, 'axis'),
      call.output.shape.length,
      name,
    );
    const rows = rowsAlong(call, axis);
    if (rows === undefined) return undefined;
    const { problem, access } = rows;
    return rowKernel(problem, (shape, x, y) => {
      const { findMaximum, weigh, weighLogarithms } = softmaxRow(
        shape,
        { base: x, access },
        { base: y, access },
      );
      return [...findMaximum, ...(name === 'softmax' ? weigh : weighLogarithms)];
    });
  };

const rowNorm =
  (isCentered: boolean): WasmLowering =>
  (call) => {
    const rows = rowsAlong(call, call.output.shape.length - 1);
    if (rows === undefined) return undefined;
    const { problem, access } = rows;
    const epsilon = floatAttribute(call.attributes, 'epsilon');
    return rowKernel(problem, (shape, x, y) => {
      const walk = new RowWalk(shape);
      const [shift, mean, squares, scale] = locals(4, 'v128');
      const ofSum = { combine: add, identity: f32x4(0), isSum: true };
      // Less the first, so that equal elements are 0 whatever their sum rounds to.
      const shifted = (value: Expression) => (isCentered ? sub(value, shift) : value);
      const centered = (value: Expression) => (isCentered ? sub(shifted(value), mean) : value);
      const size = f32x4(problem.size);
      const centre = isCentered
        ? [
            set(shift, firstElements(shape, x, access)),
            ...walk.fold(x, mean, access, { ...ofSum, map: shifted }),
            set(mean, apply('f32x4.div', mean, size)),
          ]
        : [];
      const squared = (value: Expression, statements: Statement[]): Expression => {
        const difference = local('v128');
        statements.push(set(difference, centered(value)));
        return mul(difference, difference);
      };
      const variance = add(apply('f32x4.div', squares, size), f32x4(epsilon));
      return [
        ...centre,
        ...walk.fold(x, squares, access, { ...ofSum, map: squared }),
        set(scale, apply('f32x4.div', f32x4(1), apply('f32x4.sqrt', variance))),
        ...walk.store({ base: x, access }, { base: y, access }, (value) =>
          mul(centered(value), scale),
        ),
      ];
    });
  };

export const NORM_WASM = {
  softmax: softmax('softmax'),
  log_softmax: softmax('log_softmax'),
  layer_norm: rowNorm(true),
  rms_norm: rowNorm(false),
};
