import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { mul } from '../../wasm/floats.ts';
import { forParts } from '../../wasm/for-parts.ts';
import { binder, increment, loop, set, type Statement } from '../../wasm/statement.ts';
import { readFloats, type Rows, type Tile } from './cached-scores.wasm.ts';

/** Vectors of columns that are summed up in registers. */
const VECTORS: Readonly<Record<Rows, number>> = { 1: 8, 2: 4, 4: 2 };

interface ValuePlaces {
  readonly v: Local;
  readonly valueScale: Local;
  readonly y: Local;
  /** The factor of the weights of each lane's row. */
  readonly share: Local;
}

/** Sums of the values of the keys that count, by the weights. */
export function sumValues(tile: Tile, places: ValuePlaces): Statement[] {
  const { shape, width } = tile;
  const [index, most] = [w.local('i32'), VECTORS[width] * 4];
  return forParts({ index, count: shape.valueSize, width: most }, (columns) =>
    sumColumns(tile, places, { index, columns }),
  );
}

interface Columns {
  /** The first column of the part. */
  readonly index: Local;
  readonly columns: number;
}

function sumColumns(
  { width, shape, begin, count, weights }: Tile,
  { v, valueScale, y, share }: ValuePlaces,
  { index, columns }: Columns,
): Statement[] {
  const { valueSize, cache, output, isInteger } = shape;
  const [from, scale, weight, to, key] = w.locals(5);
  const most = VECTORS[width] * 4;
  const rowBytes = valueSize * cache.byteLength;
  const counts = Array.from({ length: Math.ceil(columns / 4) }, (_, i) =>
    Math.min(columns - i * 4, 4),
  );
  const sums = Array.from({ length: width }, () => counts.map(() => w.local('v128')));
  const round: Statement[] = [];
  const bind = binder(round);
  const factor = isInteger ? bind(w.load('splat32', scale)) : undefined;
  const factors = sums.map((_, r) => {
    const own = w.load('splat32', weight, r * FLOAT);
    return bind(factor === undefined ? own : mul(own, factor));
  });
  for (const [i, lanes] of counts.entries()) {
    const value = bind(readFloats(shape, from, { column: i * 4, count: lanes }));
    for (const [r, row] of sums.entries()) {
      const [sum, own] = [row[i], factors[r]];
      if (sum && own) round.push(set(sum, w.multiplyAdd(own, value, sum)));
    }
  }
  const written = sums.flatMap((row, r) =>
    row.flatMap((sum, i) => [
      set(sum, mul(sum, w.shuffle32(share, share, [r, r, r, r]))),
      ...output.write(to, (r * valueSize + i * 4) * output.byteLength, {
        value: sum,
        count: counts[i] ?? 4,
      }),
    ]),
  );
  return [
    set(from, plus(plus(v, times(begin, rowBytes)), times(index, most * cache.byteLength))),
    set(scale, plus(valueScale, times(begin, FLOAT))),
    set(weight, weights),
    ...sums.flat().map((sum) => set(sum, w.f32x4(0))),
    ...loop({ index: key, end: count }, [
      ...round,
      increment(from, rowBytes),
      increment(weight, width * FLOAT),
      ...(isInteger ? [increment(scale, FLOAT)] : []),
    ]),
    set(to, plus(y, times(index, most * output.byteLength))),
    ...written,
  ];
}
