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
  return {
    functions: [inner === 1 ? elementFunction(width) : runFunction(width, inner)],
    units: count / Math.max(outSize * inner, 1),
    work: count * width,
    body({ inputs: [from, rows], output: to, units }) {
      if (!(from && rows) || count === 0) return [];
      const [outer, row, at, target] = w.locals(4);
      return [
        s.set(target, plus(to, times(units.first, outSize * inner * FLOAT))),
        ...s.loop({ index: outer, begin: units.first, end: units.end }, [
          s.set(at, rows),
          ...s.loop({ index: row, end: w.i32(outSize) }, [
            s.call('interpolate', [plus(from, times(outer, size * inner * FLOAT)), at, target]),
            s.increment(at, width * FLOAT),
            s.increment(target, inner * FLOAT),
          ]),
        ]),
      ];
    },
  };
};

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
