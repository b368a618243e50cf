import { elementCount } from '../../core/shape.ts';
import { FLOAT, plus, times } from '../../wasm/address.ts';
import {
  apply,
  type Expression,
  f32,
  f32x4,
  i32,
  load,
  type Local,
  local,
  locals,
} from '../../wasm/expression.ts';
import {
  call,
  increment,
  loop,
  set,
  type Statement,
  store,
  type WasmFunction,
  when,
} from '../../wasm/statement.ts';
import { elementAccess } from '../element-access.ts';
import { withHalves } from '../wasm-kernels.ts';
import type { WasmLowering } from '../wasm-lowering.ts';
import { layoutOf } from './resample.ts';

/** Rows of the table one after another: what lies behind the axis is a run of elements. */
const resample: WasmLowering = ({ inputs: [x, table], output, attributes }) => {
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
      const [outer, row, at, target] = locals(4);
      return [
        set(target, plus(to, times(units.first, outSize * inner * FLOAT))),
        ...loop({ index: outer, begin: units.first, end: units.end }, [
          set(at, rows),
          ...loop({ index: row, end: i32(outSize) }, [
            call('interpolate', [plus(from, times(outer, size * inner * FLOAT)), at, target]),
            increment(at, width * FLOAT),
            increment(target, inner * FLOAT),
          ]),
        ]),
      ];
    },
  };
};

const beginOf = (row: Local): Expression => apply('i32.trunc_sat_f32_s', load('f32', row));
const isConstant = (row: Local): Expression => apply('f32.lt', load('f32', row), f32(0));

/** `interpolate(x, row, to)`: one element. */
function elementFunction(width: number): WasmFunction {
  const [x, row, to] = locals(3);
  const [sum, tap, at] = [local('f32'), local('i32'), local('i32')];
  return {
    name: 'interpolate',
    params: [x, row, to],
    body: when(
      isConstant(row),
      [store('f32', { address: to }, load('f32', row, FLOAT))],
      [
        set(sum, f32(0)),
        set(at, plus(x, times(beginOf(row), FLOAT))),
        ...loop({ index: tap, end: i32(width - 1) }, [
          increment(row, FLOAT),
          set(sum, apply('f32.add', sum, apply('f32.mul', load('f32', row), load('f32', at)))),
          increment(at, FLOAT),
        ]),
        store('f32', { address: to }, sum),
      ],
    ),
  };
}

/** `interpolate(x, row, to)`: a run of elements that have the same weights. */
function runFunction(width: number, inner: number): WasmFunction {
  const access = elementAccess('float32');
  const [x, row, to] = locals(3);
  const params = [x, row, to];
  if (access === undefined) return { name: 'interpolate', params, body: [] };
  const [weights, index, tap, from, at] = locals(5);
  const sum = local('v128');
  const vector = (count: number): Statement[] => [
    ...when(
      isConstant(row),
      [set(sum, load('splat32', row, FLOAT))],
      [
        set(sum, f32x4(0)),
        set(weights, row),
        set(at, from),
        ...loop({ index: tap, end: i32(width - 1) }, [
          increment(weights, FLOAT),
          set(
            sum,
            apply(
              'f32x4.add',
              sum,
              apply('f32x4.mul', load('splat32', weights), access.read(at, 0, count)),
            ),
          ),
          increment(at, inner * FLOAT),
        ]),
      ],
    ),
    ...access.write(to, 0, { value: sum, count }),
  ];
  return {
    name: 'interpolate',
    params,
    body: [
      set(from, plus(x, times(beginOf(row), inner * FLOAT))),
      ...loop({ index, end: i32(Math.floor(inner / 4)) }, [
        ...vector(4),
        increment(from, 4 * FLOAT),
        increment(to, 4 * FLOAT),
      ]),
      ...(inner % 4 === 0 ? [] : vector(inner % 4)),
    ],
  };
}

export const resampleWasm = withHalves(resample);
