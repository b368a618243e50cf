import { plus, times, lesser } from '../../wasm/address.ts';
import { apply, i32, load, type Local, local, locals } from '../../wasm/expression.ts';
import { increment, loop, set, type Statement, store, when } from '../../wasm/statement.ts';
import { boolAttribute } from '../attributes.ts';
import { scalarRowKernel, scalarRows } from '../reduction/scalar-rows.wasm.ts';
import { comesBefore, scalarAccess, type ScalarAccess } from '../lowering/scalar-access.wasm.ts';
import type { WasmLowering } from '../lowering/wasm-lowering.ts';
import { topKAxisOf } from './top-k.ts';

/** Where the first k are: a merge sort of places, which keeps equal elements in their order. */
export const topKWasm: WasmLowering = ({ inputs: [x], output, attributes }) => {
  const access = x && scalarAccess(x.dtype);
  if (x === undefined || access === undefined) return undefined;
  const axis = topKAxisOf(attributes, x.shape.length);
  const [size, k] = [x.shape[axis] ?? 0, output.shape[axis] ?? 0];
  const { byteLength } = access;
  const rows = scalarRows(x.shape, axis, { byteLength, results: [k, 8] });
  const { inner } = rows;
  const isLargest = boolAttribute(attributes, 'largest');
  return scalarRowKernel(
    rows,
    (from, to, [places, merged]) => {
      if (places === undefined || merged === undefined) return [];
      const [index, width, source, target, other] = locals(5);
      const pass = local('i32');
      const passes = Math.ceil(Math.log2(Math.max(size, 1)));
      const merge = mergePass({
        access,
        from,
        source,
        target,
        size,
        width,
        stride: inner,
        isLargest,
      });
      const sort = loop({ index: pass, end: i32(passes) }, [
        ...merge,
        set(other, source),
        set(source, target),
        set(target, other),
        set(width, times(width, 2)),
      ]);
      return [
        ...loop({ index, end: i32(size) }, [
          store('i32', { address: plus(places, times(index, 4)) }, index),
        ]),
        set(source, places),
        set(target, merged),
        set(width, i32(1)),
        ...sort,
        ...loop({ index, end: i32(k) }, [
          store(
            'i64',
            { address: to },
            apply('i64.extend_i32_s', load('i32', plus(source, times(index, 4)))),
          ),
          increment(to, inner * 8),
        ]),
      ];
    },
    [Math.max(size, 4) * 4, Math.max(size, 4) * 4],
  );
};

interface MergePass {
  readonly access: ScalarAccess;
  readonly from: Local;
  readonly source: Local;
  readonly target: Local;
  readonly width: Local;
  readonly size: number;
  /** Elements from one of the row to its next. */
  readonly stride: number;
  readonly isLargest: boolean;
}

/** Merges runs of `width` places, of which each has its own order, by twos. */
function mergePass({
  access,
  from,
  source,
  target,
  width,
  size,
  stride,
  isLargest,
}: MergePass): Statement[] {
  const [out, left, right, leftEnd, rightEnd] = locals(5);
  const [a, b] = [local(access.type), local(access.type)];
  const placeAt = (position: Local) => load('i32', plus(source, times(position, 4)));
  const valueAt = (position: Local) =>
    access.read(plus(from, times(placeAt(position), stride * access.byteLength)));
  const order = isLargest
    ? ({ first: 'greatest', nan: 'first' } as const)
    : ({ first: 'least', nan: 'last' } as const);
  const put = (position: Local): Statement[] => [
    store('i32', { address: plus(target, times(out, 4)) }, placeAt(position)),
    increment(position, 1),
  ];
  const isRightFirst = comesBefore(access, [b, a], order);
  const hasLeft = apply('i32.lt_s', left, leftEnd);
  const hasRight = apply('i32.lt_s', right, rightEnd);
  const end = (begin: Local) => lesser(plus(begin, width), size);
  return [
    set(left, i32(0)),
    set(leftEnd, i32(0)),
    set(right, i32(0)),
    set(rightEnd, i32(0)),
    ...loop({ index: out, end: i32(size) }, [
      // Both runs are empty: the next two.
      ...when(apply('i32.eq', out, rightEnd), [
        set(left, rightEnd),
        set(leftEnd, end(left)),
        set(right, leftEnd),
        set(rightEnd, end(right)),
      ]),
      ...when(
        hasLeft,
        when(
          hasRight,
          [
            set(a, valueAt(left)),
            set(b, valueAt(right)),
            ...when(isRightFirst, put(right), put(left)),
          ],
          put(left),
        ),
        put(right),
      ),
    ]),
  ];
}
