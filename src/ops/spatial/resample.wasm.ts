import { elementCount } from '../../core/tensor/shape.ts';
import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { elementAccess } from '../lowering/element-access.ts';
import type { WasmLowering } from '../lowering/wasm-lowering.ts';
import { layoutOf } from './resample.ts';

/** Rows of the table one after another: what lies behind the axis is a run of elements. */
export const resampleWasm: WasmLowering = ({ inputs: [x, table], output, attributes }) => {
  if (x === undefined || table === undefined || output.dtype !== 'float32') return undefined;
  const [outSize = 1, width = 1] = table.shape;
  const { size, inner } = layoutOf(x.shape, attributes);
  const count = elementCount(output.shape);
  const functions =
    inner === 1
      ? [elementFunction(width), lineFunction(width, { size, outSize })]
      : [runFunction(width, inner)];
  return {
    functions,
    units: count / Math.max(outSize * inner, 1),
    work: count * width,
    body({ inputs: [from, rows], output: to, units }) {
      if (!(from && rows) || count === 0) return [];
      const [outer, row, at, target, whole] = w.locals(5);
      const lines = (count: number, name: string): Statement[] => [
        s.set(at, rows),
        ...s.loop({ index: row, end: w.i32(outSize) }, [
          s.call(name, [plus(from, times(outer, size * inner * FLOAT)), at, target]),
          s.increment(at, width * FLOAT),
          s.increment(target, inner * FLOAT),
        ]),
        s.increment(target, (count - 1) * outSize * FLOAT),
      ];
      const { first: begin, end } = units;
      const rest = (first: Expression): Statement[] =>
        s.loop({ index: outer, begin: first, end }, lines(1, 'interpolate'));
      return [
        s.set(target, plus(to, times(begin, outSize * inner * FLOAT))),
        ...(inner > 1
          ? rest(begin)
          : [
              s.set(whole, w.apply('i32.and', w.apply('i32.sub', end, begin), w.i32(-LINES))),
              s.set(whole, plus(begin, whole)),
              ...s.loop({ index: outer, begin, end: whole, step: LINES }, lines(LINES, 'lines')),
              ...rest(whole),
            ]),
      ];
    },
  };
};

/** So many lines along the last axis have a row of the table at once. */
const LINES = 4;

const beginOf = (row: Local): Expression => w.apply('i32.trunc_sat_f32_s', w.load('f32', row));
const isConstant = (row: Local): Expression => w.apply('f32.lt', w.load('f32', row), w.f32(0));

/** `interpolate(x, row, to)`: one element. */
function elementFunction(width: number): WasmFunction {
  const [x, row, to] = w.locals(3);
  const [sum, tap, at] = [w.local('f32'), w.local('i32'), w.local('i32')];
  return {
    name: 'interpolate',
    params: [x, row, to],
    body: s.when(
      isConstant(row),
      [s.store('f32', { address: to }, w.load('f32', row, FLOAT))],
      [
        s.set(sum, w.f32(0)),
        s.set(at, plus(x, times(beginOf(row), FLOAT))),
        ...s.loop({ index: tap, end: w.i32(width - 1) }, [
          s.increment(row, FLOAT),
          s.set(
            sum,
            w.apply('f32.add', sum, w.apply('f32.mul', w.load('f32', row), w.load('f32', at))),
          ),
          s.increment(at, FLOAT),
        ]),
        s.store('f32', { address: to }, sum),
      ],
    ),
  };
}

/** `lines(x, row, to)`: an element of each of some lines. */
function lineFunction(
  width: number,
  { size, outSize }: { readonly size: number; readonly outSize: number },
): WasmFunction {
  const [x, row, to] = w.locals(3);
  const [sum, tap, at] = [w.local('v128'), w.local('i32'), w.local('i32')];
  const others = Array.from({ length: LINES - 1 }, (_, i) => i + 1);
  const elements = others.reduce<Expression>(
    (vector, index) =>
      w.withLane('f32x4', vector, { index, scalar: w.load('f32', at, index * size * FLOAT) }),
    w.load('splat32', at),
  );
  return {
    name: 'lines',
    params: [x, row, to],
    body: [
      ...s.when(
        isConstant(row),
        [s.set(sum, w.load('splat32', row, FLOAT))],
        [
          s.set(sum, w.f32x4(0)),
          s.set(at, plus(x, times(beginOf(row), FLOAT))),
          ...s.loop({ index: tap, end: w.i32(width - 1) }, [
            s.increment(row, FLOAT),
            s.set(sum, w.multiplyAdd(w.load('splat32', row), elements, sum)),
            s.increment(at, FLOAT),
          ]),
        ],
      ),
      ...[0, ...others].map((index) =>
        s.store(
          'f32',
          { address: to, offset: index * outSize * FLOAT },
          w.lane('f32x4', sum, index),
        ),
      ),
    ],
  };
}

/** `interpolate(x, row, to)`: a run of elements that have the same weights. */
function runFunction(width: number, inner: number): WasmFunction {
  const access = elementAccess('float32');
  const [x, row, to] = w.locals(3);
  const params = [x, row, to];
  if (access === undefined) return { name: 'interpolate', params, body: [] };
  const [weights, index, tap, from, at] = w.locals(5);
  const sum = w.local('v128');
  const vector = (count: number): Statement[] => [
    ...s.when(
      isConstant(row),
      [s.set(sum, w.load('splat32', row, FLOAT))],
      [
        s.set(sum, w.f32x4(0)),
        s.set(weights, row),
        s.set(at, from),
        ...s.loop({ index: tap, end: w.i32(width - 1) }, [
          s.increment(weights, FLOAT),
          s.set(
            sum,
            w.apply(
              'f32x4.add',
              sum,
              w.apply('f32x4.mul', w.load('splat32', weights), access.read(at, 0, count)),
            ),
          ),
          s.increment(at, inner * FLOAT),
        ]),
      ],
    ),
    ...access.write(to, 0, { value: sum, count }),
  ];
  return {
    name: 'interpolate',
    params,
    body: [
      s.set(from, plus(x, times(beginOf(row), inner * FLOAT))),
      ...s.loop({ index, end: w.i32(Math.floor(inner / 4)) }, [
        ...vector(4),
        s.increment(from, 4 * FLOAT),
        s.increment(to, 4 * FLOAT),
      ]),
      ...(inner % 4 === 0 ? [] : vector(inner % 4)),
    ],
  };
}
