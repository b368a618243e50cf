import { elementCount } from '../../core/tensor/shape.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { FLOAT, plus, times } from '../../wasm/address.ts';
import { productWork } from '../linear/product-frame.wasm.ts';
import { productKernel } from '../linear/product.wasm.ts';
import type { WasmCall, WasmKernel, WasmPlaces } from '../lowering/wasm-lowering.ts';
import { transposedAxes } from './conv-transpose.ts';
import { fillFunction } from './padded-volumes.wasm.ts';
import { loopNest } from './tap-nest.wasm.ts';
import type { VolumeAxes } from './window.ts';
import { plainProblem } from '../linear/matmul-problem.ts';

/** Bytes of products that are made before they are added up: they stay in the second cache. */
const PRODUCTS_BYTES = 2 ** 18;
/** Fewer rows of products, and each would read all of the image. */
const MIN_ROWS = 16;

interface Transpose {
  /** `size` is that of x, `count` that of the result. */
  readonly axes: VolumeAxes;
  readonly batch: number;
  readonly groups: number;
  readonly groupIn: number;
  readonly groupOut: number;
  readonly pixels: number;
  readonly taps: number;
  /** Positions of the result with what is cut off. */
  readonly full: readonly [number, number, number];
}

/**
 * Transposed convolutions: the products of weights and image, for some channels of the result at a time,
 * are added up in a volume with room for all of them, from which the result is cut.
 */
export function convTransposeKernel({ inputs, output, attributes }: WasmCall): WasmKernel {
  const [x = [], weights = []] = inputs.map((type) => type?.shape);
  const axes = transposedAxes(x, weights, attributes);
  const groups = Number(attributes['groups'] ?? 1);
  const [depth = 1, height = 1, width = 1] = axes.map((axis) =>
    Math.max(
      (axis.size - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1,
      axis.padBefore + axis.count,
    ),
  );
  return kernelOf(
    {
      axes,
      batch: x[0] ?? 1,
      groups,
      groupIn: (x[1] ?? 1) / groups,
      groupOut: (output.shape[1] ?? 1) / groups,
      pixels: elementCount(x.slice(2)),
      taps: elementCount(weights.slice(2)),
      full: [depth, height, width],
    },
    inputs[2] !== undefined,
  );
}

function kernelOf(transpose: Transpose, hasBias: boolean): WasmKernel {
  const { groupIn: k, groupOut, pixels: n, taps, full } = transpose;
  const channels = channelsAtOnce(transpose);
  const m = channels * taps;
  const a = { batch: [0, 0], row: 1, column: groupOut * taps };
  const problem = { ...plainProblem({ m, n, k }), a };
  const product = productKernel(problem, 'none');
  return {
    functions: [
      ...(product.functions ?? []),
      fillFunction(elementCount(full), 0),
      addFunction(transpose),
      cutFunction(transpose, hasBias),
    ],
    scratch: [m * n * FLOAT, elementCount(full) * FLOAT, ...(product.scratch ?? [])],
    units: (transpose.batch * transpose.groups * groupOut) / channels,
    work: (transpose.batch * transpose.groups * groupOut * productWork(problem)) / channels,
    body: (places) => bodyOf(transpose, { places, product, channels }),
  };
}

/** Channels of a group's result that are made together: a divisor of their number. */
function channelsAtOnce({ groupOut, taps, pixels }: Transpose): number {
  const divisors = Array.from({ length: groupOut }, (_, i) => i + 1).filter(
    (part) => groupOut % part === 0,
  );
  const least = divisors.find((part) => part * taps >= MIN_ROWS) ?? groupOut;
  const fits = divisors.filter((part) => part * taps * pixels * FLOAT <= PRODUCTS_BYTES);
  return Math.max(least, fits.at(-1) ?? 1);
}

interface BodyOptions {
  readonly places: WasmPlaces;
  readonly product: WasmKernel;
  readonly channels: number;
}

function bodyOf(transpose: Transpose, { places, product, channels }: BodyOptions): Statement[] {
  const { axes, groups, groupIn, groupOut, pixels, taps } = transpose;
  const { output, units } = places;
  const [x, weights, bias] = places.inputs;
  const [products, full, ...scratch] = places.scratch;
  if (!(x && weights && products && full)) return [];
  const [unit, first, channel, groupX, groupW, out] = w.locals(6);
  const positions = axes.reduce((product_, { count }) => product_ * count, 1);
  // A unit is some channels of a group of an image.
  const lots = groupOut / channels;
  const imageGroup = w.apply('i32.div_u', unit, w.i32(lots));
  const group = w.apply('i32.rem_u', imageGroup, w.i32(groups));
  const image = w.apply('i32.div_u', imageGroup, w.i32(groups));
  const row = plus(times(group, groupIn * groupOut), first);
  const inner = { first: w.local('i32'), end: w.local('i32') };
  return s.loop({ index: unit, begin: units.first, end: units.end }, [
    s.set(first, times(w.apply('i32.rem_u', unit, w.i32(lots)), channels)),
    s.set(groupX, plus(x, times(imageGroup, groupIn * pixels * FLOAT))),
    s.set(groupW, plus(weights, times(row, taps * FLOAT))),
    s.set(inner.first, w.i32(0)),
    s.set(inner.end, w.i32(product.units ?? 1)),
    ...product.body({
      inputs: [groupW, groupX],
      output: products,
      packed: [],
      scratch,
      units: inner,
    }),
    ...s.loop({ index: channel, end: w.i32(channels) }, [
      s.set(out, plus(plus(times(group, groupOut), first), channel)),
      s.call('fill', [full]),
      s.call('add', [plus(products, times(channel, taps * pixels * FLOAT)), full]),
      s.call('cut', [
        full,
        plus(output, times(plus(times(image, groups * groupOut), out), positions * FLOAT)),
        ...(bias ? [plus(bias, times(out, FLOAT))] : []),
      ]),
    ]),
  ]);
}

/** `add(products, full)`: all products of a channel, tap by tap. */
function addFunction({ axes, full, pixels }: Transpose): WasmFunction {
  const [from, to] = w.locals(2);
  const [depths, rows, columns] = axes;
  const [, height, width] = full;
  const steps = (product: number, place: number) => [product * FLOAT, place * FLOAT];
  const plane = height * width;
  const lines = [
    {
      size: depths.kernel,
      steps: steps(rows.kernel * columns.kernel * pixels, depths.dilation * plane),
    },
    { size: rows.kernel, steps: steps(columns.kernel * pixels, rows.dilation * width) },
    { size: depths.size, steps: steps(rows.size * columns.size, depths.stride * plane) },
    { size: rows.size, steps: steps(columns.size, rows.stride * width) },
  ];
  // Two taps next to each other fill what a stride of two leaves free.
  const together = columns.stride === 2 && columns.dilation === 1 ? 2 : 1;
  const pairs = Math.floor(columns.kernel / together);
  const left = columns.kernel - pairs * together;
  const ofTaps = (count: number) => (pointers: readonly Local[]) => {
    const [source = from, target = to] = pointers;
    return addTaps({ columns, pixels, taps: count }, source, target);
  };
  const [lastFrom, lastTo] = w.locals(2);
  return {
    name: 'add',
    params: [from, to],
    body: loopNest(lines, [from, to], ([lineFrom = from, lineTo = to]) => [
      ...loopNest(
        [{ size: pairs, steps: steps(together * pixels, together * columns.dilation) }],
        [lineFrom, lineTo],
        ofTaps(together),
      ),
      ...(left === 0
        ? []
        : [
            s.set(lastFrom, plus(lineFrom, pairs * together * pixels * FLOAT)),
            s.set(lastTo, plus(lineTo, pairs * together * FLOAT)),
            ...ofTaps(left)([lastFrom, lastTo]),
          ]),
    ]),
  };
}

interface AddedTaps {
  readonly columns: VolumeAxes[2];
  readonly pixels: number;
  /** 1, or 2 that lie next to each other where the stride is 2. */
  readonly taps: number;
}

/** A row of products of one tap, or of two, to their places. */
function addTaps({ columns, pixels, taps }: AddedTaps, source: Local, target: Local): Statement[] {
  const { size, stride } = columns;
  const [from, to, index] = w.locals(3);
  const isVector = stride === taps;
  const vectors = isVector ? Math.floor(size / 4) : 0;
  const addTo = (offset: number, value: Expression): Statement =>
    s.store(
      'v128',
      { address: to, offset },
      w.apply('f32x4.add', w.load('v128', to, offset), value),
    );
  const [first, second] = w.locals(2, 'v128');
  const added =
    taps === 1
      ? [addTo(0, w.load('v128', from))]
      : [
          s.set(first, w.load('v128', from)),
          s.set(second, w.load('v128', from, pixels * FLOAT)),
          addTo(0, w.shuffle32(first, second, [0, 4, 1, 5])),
          addTo(4 * FLOAT, w.shuffle32(first, second, [2, 6, 3, 7])),
        ];
  const addOne = (tap: number): Statement => {
    const offset = tap * FLOAT;
    const value = w.load('f32', from, tap * pixels * FLOAT);
    return s.store(
      'f32',
      { address: to, offset },
      w.apply('f32.add', w.load('f32', to, offset), value),
    );
  };
  return [
    s.set(from, source),
    s.set(to, target),
    ...s.loop({ index, end: w.i32(vectors) }, [
      ...added,
      s.increment(from, 4 * FLOAT),
      s.increment(to, 4 * stride * FLOAT),
    ]),
    ...s.loop({ index, end: w.i32(size - vectors * 4) }, [
      ...Array.from({ length: taps }, (_, tap) => addOne(tap)),
      s.increment(from, FLOAT),
      s.increment(to, stride * FLOAT),
    ]),
  ];
}

/** `cut(full, y, bias?)`: the part that is the result, and the bias. */
function cutFunction({ axes, full }: Transpose, hasBias: boolean): WasmFunction {
  const [from, y, bias, source, value] = [
    w.local('i32'),
    w.local('i32'),
    w.local('i32'),
    w.local('i32'),
    w.local('v128'),
  ];
  const [depths, rows, columns] = axes;
  const [, height, width] = full;
  const before = (depths.padBefore * height + rows.padBefore) * width + columns.padBefore;
  const lines = [
    { size: depths.count, steps: [height * width * FLOAT, rows.count * columns.count * FLOAT] },
    { size: rows.count, steps: [width * FLOAT, columns.count * FLOAT] },
  ];
  return {
    name: 'cut',
    params: hasBias ? [from, y, bias] : [from, y],
    body: [
      s.set(value, hasBias ? w.load('splat32', bias) : w.f32x4(0)),
      s.set(source, plus(from, before * FLOAT)),
      ...loopNest(lines, [source, y], ([lineFrom = source, lineTo = y]) =>
        cutRow(columns.count, { source: lineFrom, target: lineTo, bias: value }),
      ),
    ],
  };
}

/** Elements that lie together. The last vector reaches back where they are no multiple of four. */
function cutRow(
  count: number,
  { source, target, bias }: Readonly<Record<'source' | 'target' | 'bias', Local>>,
): Statement[] {
  if (count < 4) {
    const first = w.lane('f32x4', bias, 0);
    return Array.from({ length: count }, (_, i) => {
      const place = { address: target, offset: i * FLOAT };
      return s.store('f32', place, w.apply('f32.add', w.load('f32', source, i * FLOAT), first));
    });
  }
  const [from, to, index] = w.locals(3);
  const cut = s.store('v128', { address: to }, w.apply('f32x4.add', w.load('v128', from), bias));
  const at = (element: Expression): Statement[] => [
    s.set(from, plus(source, times(element, FLOAT))),
    s.set(to, plus(target, times(element, FLOAT))),
  ];
  return [
    ...s.loop({ index, end: w.i32(count - (count % 4)), step: 4 }, [...at(index), cut]),
    ...(count % 4 === 0 ? [] : [...at(w.i32(count - 4)), cut]),
  ];
}
