import type { DType } from '../../core/tensor/dtype.ts';
import { elementCount, rowMajorStrides } from '../../core/tensor/shape.ts';
import { plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { byFours } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { boolAttribute, stringAttribute } from '../attributes.ts';
import { laneAccess, type LaneAccess } from '../lowering/element-access.ts';
import { typedFormula } from '../formula/infer-types.ts';
import { lowerLanes } from '../formula/wasm/lower-formula.ts';
import type { WasmCall, WasmKernel, WasmLowering } from '../lowering/wasm-lowering.ts';
import { scatterAxisOf } from './scatter-elements.ts';
import { tuplesOf } from './scatter-nd.ts';
import { combination, contextOf } from './scatter-reduction.ts';
import { placesOf } from './tensor-scatter.ts';

/** The row of x that an update goes to. */
interface Row {
  /** The number of the row. */
  readonly row: Expression;
  /** The condition that there is such a row. */
  readonly isInside: Expression;
  /** Statements that compute both. */
  readonly statements: readonly Statement[];
}

interface Places {
  /** Loops over updates: sizes, outer first. */
  readonly sizes: readonly number[];
  /** How many elements a row has. */
  readonly run: number;
  /** The row for an update, whose index begins at an address. */
  rowOf(coordinates: readonly Local[], index: Local): Row;
  /** How many indices an update has. */
  readonly indexCount: number;
}

/** x, unless it lies there, and on it the updates one after another: the last of several wins. */
function scatterKernel(
  { inputs, output, attributes }: WasmCall,
  places: Places,
): WasmKernel | undefined {
  const access = laneAccess(output.dtype);
  const indexBytes = inputs[1]?.dtype === 'int64' ? 8 : 4;
  if (access === undefined) return undefined;
  const rowBytes = places.run * access.byteLength;
  const { dtype } = output;
  const reduction = stringAttribute(attributes, 'reduction');
  const count = elementCount(output.shape);
  return {
    functions: [
      updateFunction('update', { dtype, access, reduction, count: places.run }),
      updateFunction('copy', { dtype, access, reduction: 'none', count }),
    ],
    body({ inputs: [x, indices, updates], output: to }) {
      if (!(x && indices && updates) || count === 0) return [];
      const coordinates = places.sizes.map(() => w.local('i32'));
      const [index, from] = w.locals(2);
      const { row, isInside, statements } = places.rowOf(coordinates, index);
      const body: Statement[] = [
        ...statements,
        ...s.when(isInside, [s.call('update', [from, plus(to, times(row, rowBytes))])]),
        s.increment(index, places.indexCount * indexBytes),
        s.increment(from, rowBytes),
      ];
      return [
        ...s.when(w.apply('i32.ne', x, to), [s.call('copy', [x, to])]),
        s.set(index, indices),
        s.set(from, updates),
        ...coordinates.reduceRight<Statement[]>(
          (inner, coordinate, axis) =>
            s.loop({ index: coordinate, end: w.i32(places.sizes[axis] ?? 1) }, inner),
          body,
        ),
      ];
    },
  };
}

interface Update {
  readonly dtype: DType;
  readonly access: LaneAccess;
  readonly reduction: string;
  /** How many elements an update has. */
  readonly count: number;
}

/** `name(from, to)`: elements in place of those of the result, or combined with them. */
function updateFunction(
  name: string,
  { dtype, access, reduction, count: all }: Update,
): WasmFunction {
  const { byteLength } = access;
  const formula = combination(reduction);
  const [from, to] = w.locals(2);
  const typed = formula && typedFormula(formula, contextOf(dtype));
  return {
    name,
    params: [from, to],
    body: byFours(
      { count: all, pointers: [from, to], steps: [byteLength, byteLength] },
      (count) => {
        const statements: Statement[] = [];
        const bind = (parts: readonly Expression[]): Local[] =>
          parts.map((part) => {
            const target = w.local('v128');
            statements.push(s.set(target, part));
            return target;
          });
        const update = bind(access.read(from, 0, count));
        const value =
          typed === undefined
            ? update
            : bind(
                lowerLanes(typed, {
                  operands: [bind(access.read(to, 0, count)), update],
                  statements,
                }),
              );
        return [...statements, ...access.write(to, 0, { value, count })];
      },
    ),
  };
}

/** The place of an index at an address on an axis; the size or more outside of it. */
function placeAt(
  address: Expression,
  { isWide, size }: { readonly isWide: boolean; readonly size: number },
): { readonly place: Local; readonly statements: Statement[] } {
  const place = w.local('i32');
  if (!isWide) {
    const index = w.local('i32');
    const wrapped = w.select(w.apply('i32.lt_s', index, w.i32(0)), plus(index, size), index);
    return { place, statements: [s.set(index, w.load('i32', address)), s.set(place, wrapped)] };
  }
  const index = w.local('i64');
  const isNegative = w.apply('i64.lt_s', index, w.i64(0n));
  const wrapped = w.select(isNegative, w.apply('i64.add', index, w.i64(BigInt(size))), index);
  const moved = w.local('i64');
  const isInside = w.apply('i64.lt_u', moved, w.i64(BigInt(size)));
  return {
    place,
    statements: [
      s.set(index, w.load('i64', address)),
      s.set(moved, wrapped),
      s.set(place, w.select(isInside, w.apply('i32.wrap_i64', moved), w.i32(-1))),
    ],
  };
}

export const scatterElementsWasm: WasmLowering = (given) => {
  const { inputs, output, attributes } = given;
  const shape = inputs[1]?.shape ?? [];
  const axis = scatterAxisOf(attributes, shape.length);
  const strides = rowMajorStrides(output.shape);
  const size = output.shape[axis] ?? 1;
  const isWide = inputs[1]?.dtype === 'int64';
  return scatterKernel(given, {
    sizes: shape,
    run: 1,
    indexCount: 1,
    rowOf(coordinates, index) {
      const { place, statements } = placeAt(index, { isWide, size });
      const row = coordinates.reduce<Expression>(
        (sum, coordinate, i) => plus(sum, times(i === axis ? place : coordinate, strides[i] ?? 1)),
        w.i32(0),
      );
      return { row, statements, isInside: w.apply('i32.lt_u', place, w.i32(size)) };
    },
  });
};

export const scatterNdWasm: WasmLowering = (given) => {
  const { inputs, output } = given;
  const { sizes, count, run } = tuplesOf(output.shape, inputs[1]?.shape ?? []);
  const strides = rowMajorStrides(sizes);
  const isWide = inputs[1]?.dtype === 'int64';
  return scatterKernel(given, {
    sizes: [count],
    run,
    indexCount: sizes.length,
    rowOf(_, index) {
      const places = sizes.map((size, i) =>
        placeAt(plus(index, i * (isWide ? 8 : 4)), { isWide, size }),
      );
      const row = places.reduce<Expression>(
        (sum, { place }, i) => plus(sum, times(place, strides[i] ?? 1)),
        w.i32(0),
      );
      const isInside = places.reduce<Expression>(
        (all, { place }, i) =>
          w.apply('i32.and', all, w.apply('i32.lt_u', place, w.i32(sizes[i] ?? 1))),
        w.i32(1),
      );
      return { row, isInside, statements: places.flatMap(({ statements }) => statements) };
    },
  });
};

/** For each slice of the first axis x, unless it lies there, and on it the rows of its updates. */
export const tensorScatterWasm: WasmLowering = ({ inputs, output, attributes }) => {
  const access = laneAccess(output.dtype);
  const count = elementCount(output.shape);
  const { axis, run, rows } = placesOf(output.shape, attributes);
  const [slices = 0] = output.shape;
  const [size, steps] = [output.shape[axis] ?? 0, inputs[1]?.shape[axis] ?? 0];
  if (access === undefined) return undefined;
  const copied = { dtype: output.dtype, access, reduction: 'none' };
  const rowBytes = run * access.byteLength;
  const sliceBytes = rows * size * rowBytes;
  return {
    functions: [
      updateFunction('update', { ...copied, count: run }),
      updateFunction('copy', { ...copied, count: slices === 0 ? 0 : count / slices }),
    ],
    units: slices,
    body({ inputs: [x, updates, begins], output: to, units }) {
      if (!(x && updates && begins) || count === 0) return [];
      const [slice, row, step] = [w.local('i32'), w.local('i32'), w.local('i32')];
      const [from, target, begin, place] = [
        w.local('i32'),
        w.local('i32'),
        w.local('i32'),
        w.local('i32'),
      ];
      const isWide = inputs[2]?.dtype === 'int64';
      const at = plus(place, step);
      const wrapped = w.select(w.apply('i32.ge_s', at, w.i32(size)), plus(at, -size), at);
      const isCircular = boolAttribute(attributes, 'circular');
      const moved = w.local('i32');
      const isInside = w.apply('i32.lt_u', moved, w.i32(size));
      return [
        s.set(from, plus(updates, times(units.first, rows * steps * rowBytes))),
        s.set(target, plus(to, times(units.first, sliceBytes))),
        ...s.loop({ index: slice, begin: units.first, end: units.end }, [
          ...s.when(w.apply('i32.ne', x, to), [
            s.call('copy', [plus(x, times(slice, sliceBytes)), target]),
          ]),
          s.set(begin, plus(begins, times(slice, isWide ? 8 : 4))),
          ...beginAt(begin, { isWide, isCircular, size, place }),
          ...s.loop({ index: row, end: w.i32(rows) }, [
            ...s.loop({ index: step, end: w.i32(steps) }, [
              s.set(moved, isCircular ? wrapped : at),
              ...s.when(isInside, [s.call('update', [from, plus(target, times(moved, rowBytes))])]),
              s.increment(from, rowBytes),
            ]),
            s.increment(target, size * rowBytes),
          ]),
        ]),
      ];
    },
  };
};

interface Begin {
  readonly isWide: boolean;
  readonly isCircular: boolean;
  readonly size: number;
  /** Gets the place along the axis, from 0 up to the size when circular. */
  readonly place: Local;
}

/** Reads a begin. One beyond the axis by more than int32 holds is outside with all that follows. */
function beginAt(address: Local, { isWide, isCircular, size, place }: Begin): Statement[] {
  const wide = w.local('i64');
  const value = isWide
    ? w.load('i64', address)
    : w.apply('i64.extend_i32_s', w.load('i32', address));
  const limit = w.i64(BigInt(size));
  if (isCircular) {
    const rest = w.apply('i64.rem_s', wide, limit);
    const least = w.select(
      w.apply('i64.lt_s', rest, w.i64(0n)),
      w.apply('i64.add', rest, limit),
      rest,
    );
    return [s.set(wide, value), s.set(place, w.apply('i32.wrap_i64', least))];
  }
  const above = w.select(w.apply('i64.gt_s', wide, limit), limit, wide);
  const least = w.i64(-(2n ** 31n));
  const both = w.select(w.apply('i64.lt_s', above, least), least, above);
  return [s.set(wide, value), s.set(place, w.apply('i32.wrap_i64', both))];
}
