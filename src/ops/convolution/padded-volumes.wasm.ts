import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { VolumeAxes, WindowAxis } from './window.ts';

/** Volumes of which every tap of every window is an element: those of x, or copies with padding. */
export interface PaddedVolumes {
  /** Elements along depth, height and width, as they lie in memory. */
  readonly sizes: readonly [number, number, number];
  /** Elements from one volume to the next. */
  readonly volume: number;
  readonly isCopy: boolean;
  /** Temporary memory, in bytes. */
  readonly scratch: readonly number[];
  readonly functions: readonly WasmFunction[];
  /** Statements before the first copy, which write the padding. */
  fill(to: Expression): readonly Statement[];
  /** The offset of a column in its row, in elements. */
  columnAt(column: number): number;
  copy(from: Expression, to: Expression): readonly Statement[];
}

interface PaddedOptions {
  /** So many volumes lie together. */
  readonly volumes: number;
  /** The value of the padding. */
  readonly outside?: number;
  /** Copies rows as their even columns, then their odd ones: steps of two become steps of one. */
  readonly splits?: boolean;
}

/** Volumes with what is around them where windows see it. */
export function paddedVolumes(
  axes: VolumeAxes,
  { volumes, outside = 0, splits = false }: PaddedOptions,
): PaddedVolumes {
  const isCopy = splits || axes.some((axis) => axis.padBefore > 0 || extentOf(axis) > axis.size);
  const [depth = 1, height = 1, width = 1] = axes.map((axis) =>
    isCopy ? extentOf(axis) : axis.size,
  );
  const half = splits ? Math.ceil(width / 2) : undefined;
  const sizes = [depth, height, half === undefined ? width : half * 2] as const;
  const volume = sizes[0] * sizes[1] * sizes[2];
  const layout = { axes, sizes, volumes, volume, half };
  const columnAt = (column: number): number =>
    half === undefined ? column : (column % 2) * half + Math.floor(column / 2);
  if (!isCopy) {
    const none = () => [];
    return { sizes, volume, isCopy, scratch: [], functions: [], fill: none, columnAt, copy: none };
  }
  return {
    sizes,
    volume,
    isCopy,
    scratch: [volumes * volume * FLOAT],
    functions: [fillFunction(volumes * volume, outside), copyFunction(layout)],
    columnAt,
    fill: (to) => [s.call('fill', [to])],
    copy: (from, to) => [s.call('copy', [from, to])],
  };
}

/** Elements from the first tap of the first window to the last one of the last. */
function extentOf({ count, stride, kernel, dilation }: WindowAxis): number {
  return (count - 1) * stride + (kernel - 1) * dilation + 1;
}

/** Elements of the image that are copied, from the first on. */
function copiedOf(axis: WindowAxis): number {
  return Math.max(Math.min(axis.size, extentOf(axis) - axis.padBefore), 0);
}

/** `fill(to)`: a number everywhere. */
export function fillFunction(count: number, value: number): WasmFunction {
  const [to, index] = w.locals(2);
  const left = count % 4;
  return {
    name: 'fill',
    params: [to],
    body: [
      ...s.loop({ index, end: w.i32(count - left), step: 4 }, [
        s.store('v128', { address: to }, w.f32x4(value)),
        s.increment(to, 4 * FLOAT),
      ]),
      ...Array.from({ length: left }, (_, i) =>
        s.store('f32', { address: to, offset: i * FLOAT }, w.f32(value)),
      ),
    ],
  };
}

interface Layout extends Pick<PaddedVolumes, 'sizes' | 'volume'> {
  readonly axes: VolumeAxes;
  readonly volumes: number;
  /** Even columns of a row where its odd ones follow. */
  readonly half: number | undefined;
}

/** `copy(from, to)`: volumes to their places within the padding. */
function copyFunction({ axes, sizes, volumes, volume, half }: Layout): WasmFunction {
  const [from, to, source, target, v, z, y] = w.locals(7);
  const [depths, rows, columns] = axes;
  const plane = sizes[1] * sizes[2];
  const lines = depths.padBefore * plane + rows.padBefore * sizes[2];
  const before = half === undefined ? lines + columns.padBefore : lines;
  const row = { source, target, count: copiedOf(columns) };
  const size = depths.size * rows.size * columns.size;
  const sourceAt = plus(times(v, size * FLOAT), times(z, rows.size * columns.size * FLOAT));
  const targetAt = plus(times(v, volume * FLOAT), times(z, plane * FLOAT));
  return {
    name: 'copy',
    params: [from, to],
    body: s.loop({ index: v, end: w.i32(volumes) }, [
      ...s.loop({ index: z, end: w.i32(copiedOf(depths)) }, [
        s.set(source, plus(from, sourceAt)),
        s.set(target, plus(plus(to, targetAt), before * FLOAT)),
        ...s.loop({ index: y, end: w.i32(copiedOf(rows)) }, [
          ...(half === undefined
            ? copyRow(row)
            : copySplitRow({ ...row, before: columns.padBefore, half })),
          s.increment(source, columns.size * FLOAT),
          s.increment(target, sizes[2] * FLOAT),
        ]),
      ]),
    ]),
  };
}

/** Vectors that are copied one after the other without a loop. */
const UNROLLED = 8;

interface Row {
  readonly count: number;
  readonly source: Local;
  readonly target: Local;
}

/** Elements that lie together. The last vector reaches back where they are no multiple of four. */
function copyRow({ count, source, target }: Row): Statement[] {
  if (count < 4) {
    return Array.from({ length: count }, (_, i) =>
      s.store('i32', { address: target, offset: i * FLOAT }, w.load('i32', source, i * FLOAT)),
    );
  }
  const vectors = Math.floor(count / 4);
  const rounds = Math.floor(vectors / UNROLLED);
  const copyVector = (from: Expression, to: Expression, element: number): Statement =>
    s.store(
      'v128',
      { address: to, offset: element * FLOAT },
      w.load('v128', from, element * FLOAT),
    );
  const [index, bytes] = [w.local('i32'), UNROLLED * 4 * FLOAT];
  const [blockFrom, blockTo] = w.locals(2);
  return [
    ...s.loop({ index, end: w.i32(rounds) }, [
      s.set(blockFrom, plus(source, times(index, bytes))),
      s.set(blockTo, plus(target, times(index, bytes))),
      ...Array.from({ length: UNROLLED }, (_, i) => copyVector(blockFrom, blockTo, i * 4)),
    ]),
    ...Array.from({ length: vectors % UNROLLED }, (_, i) =>
      copyVector(source, target, (rounds * UNROLLED + i) * 4),
    ),
    ...(count % 4 === 0 ? [] : [copyVector(source, target, count - 4)]),
  ];
}

/** Elements from column `before` on, the even columns apart from the odd ones. */
function copySplitRow({
  count,
  source,
  target,
  before,
  half,
}: Row & { readonly before: number; readonly half: number }): Statement[] {
  /** Where the columns with the parity of the first one go, and the others. */
  const [same, other] = [before, before + 1].map(
    (column) => ((column % 2) * half + Math.floor(column / 2)) * FLOAT,
  );
  const [from, to, index] = w.locals(3);
  const [low, high] = w.locals(2, 'v128');
  const eight: Statement[] = [
    s.set(low, w.load('v128', from)),
    s.set(high, w.load('v128', from, 4 * FLOAT)),
    s.store('v128', { address: to, offset: same ?? 0 }, w.shuffle32(low, high, [0, 2, 4, 6])),
    s.store('v128', { address: to, offset: other ?? 0 }, w.shuffle32(low, high, [1, 3, 5, 7])),
  ];
  /** An even number of elements from the first. */
  const moveTo = (elements: number): Statement[] => [
    s.set(from, plus(source, elements * FLOAT)),
    s.set(to, plus(target, (elements / 2) * FLOAT)),
  ];
  const whole = count - (count % 8);
  // As with rows that are not split, the last vectors reach back.
  const last = count > 8 ? count - 8 - (count % 2) : 0;
  const isBack = whole < count && count > 8;
  const done = isBack ? last + 8 : whole;
  return [
    ...moveTo(0),
    ...s.loop({ index, end: w.i32(whole / 8) }, [
      ...eight,
      s.increment(from, 8 * FLOAT),
      s.increment(to, 4 * FLOAT),
    ]),
    ...(isBack ? [...moveTo(last), ...eight] : []),
    ...Array.from({ length: count - done }, (_, i) => {
      const column = before + done + i;
      const offset = ((column % 2) * half + Math.floor(column / 2)) * FLOAT;
      return s.store('i32', { address: target, offset }, w.load('i32', source, (done + i) * FLOAT));
    }),
  ];
}
