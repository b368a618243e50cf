import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { rowMajorStrides } from '../../core/tensor/shape.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { seededRandom } from '../../core/random.ts';
import { randomTensor } from '../../testing/random-tensor.ts';
import { allCoordinates, at, callReference } from '../testing/call-reference.ts';

const EXACT = { rtol: 0, atol: 0 };
const RUNS = { seed: 7, numRuns: 60 };
const size = (max: number) => fc.integer({ min: 1, max });

describe('data movement', () => {
  const shapes = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 });

  test('slice takes the indices that counting one by one takes', () => {
    const bound = fc.integer({ min: -8, max: 8 });
    const step = fc.integer({ min: -3, max: 3 }).filter((value) => value !== 0);
    const axes = fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), bound, bound, step), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(axes, (list) => {
        const shape = list.map(([dim]) => dim);
        const x = randomTensor(shape, 3);
        const taken = list.map(([dim, start, end, by]) => countedRange(dim, [start, end, by]));
        const result = callReference('slice', [x], {
          starts: list.map(([, start]) => start),
          ends: list.map(([, , end]) => end),
          steps: list.map(([, , , by]) => by),
        });
        expect(result.shape).toEqual(taken.map((indices) => indices.length));
        const strides = rowMajorStrides(shape);
        const expected = allCoordinates(result.shape).map((coords) =>
          at(
            x,
            coords.reduce(
              (sum, c, axis) => sum + (taken[axis]?.[c] ?? 0) * (strides[axis] ?? 0),
              0,
            ),
          ),
        );
        expect(Array.from(result.data, Number)).toEqual(expected);
      }),
      { ...RUNS, numRuns: 300 },
    );
  });

  test('tile and repeat take the elements that their names say', () => {
    const axes = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), size(3)), { maxLength: 4 });
    fc.assert(
      fc.property(axes, (list) => {
        const x = randomTensor(
          list.map(([dim]) => dim),
          5,
        );
        const strides = rowMajorStrides(x.shape);
        const repeats = list.map(([, count]) => count);
        const expected = (from: (coord: number, axis: number) => number) =>
          allCoordinates(x.shape.map((dim, axis) => dim * (repeats[axis] ?? 1))).map((coords) =>
            at(
              x,
              coords.reduce((sum, c, axis) => sum + from(c, axis) * (strides[axis] ?? 0), 0),
            ),
          );
        const tiled = callReference('tile', [x], { repeats });
        expect(Array.from(tiled.data, Number)).toEqual(expected((c, i) => c % (x.shape[i] ?? 1)));
        const repeated = callReference('repeat', [x], { repeats });
        expect(Array.from(repeated.data, Number)).toEqual(
          expected((c, i) => Math.floor(c / (repeats[i] ?? 1))),
        );
      }),
      { ...RUNS, numRuns: 200 },
    );
  });

  test('transposing there and back changes nothing', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (shape, seed) => {
        const random = seededRandom(seed);
        const keys = shape.map(() => random());
        const perm = shape.map((_, axis) => axis).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
        const back = perm.map((_, axis) => perm.indexOf(axis));
        const x = randomTensor(shape, seed);
        const there = callReference('transpose', [x], { perm });
        const result = callReference('transpose', [there], { perm: back });
        expect(firstDifference(result, x, EXACT)).toBeUndefined();
      }),
      RUNS,
    );
  });

  test('slicing a concatenation gives its parts, for every dtype', () => {
    for (const dtype of ['float16', 'int64', 'uint8', 'bool', 'float64'] as const) {
      const [a, b] = [
        HostTensor.from(dtype, [2, 1], [1, 0]),
        HostTensor.from(dtype, [2, 2], [1, 0, 0, 1]),
      ];
      const whole = callReference('concat', [a, b], { axis: 1 });
      expect(whole.shape).toEqual([2, 3]);
      const part = callReference('slice', [whole], { starts: [0, 1], ends: [2, 3] });
      expect(part.elements).toEqual(b.elements);
    }
  });

  test('padding and cropping back changes nothing, in every mode', () => {
    fc.assert(
      fc.property(
        size(5),
        size(5),
        fc.constantFrom('constant', 'reflect', 'edge'),
        (h, w, mode) => {
          const x = randomTensor([h, w], h * 10 + w);
          const pads = [h - 1, 0, 0, w - 1];
          const padded = callReference('pad', [x], { pads, mode });
          expect(padded.shape).toEqual([2 * h - 1, 2 * w - 1]);
          const back = callReference('pad', [padded], { pads: pads.map((count) => -count) });
          expect(firstDifference(back, x, EXACT)).toBeUndefined();
        },
      ),
      RUNS,
    );
    const row = HostTensor.from('float32', [3], [1, 2, 3]);
    const padded = (mode: string) =>
      Array.from(callReference('pad', [row], { pads: [2, 2], mode }).data, Number);
    expect(padded('reflect')).toEqual([3, 2, 1, 2, 3, 2, 1]);
    expect(padded('edge')).toEqual([1, 1, 1, 2, 3, 3, 3]);
    expect(padded('constant')).toEqual([0, 0, 1, 2, 3, 0, 0]);
  });

  test('an elementwise operator broadcasts as broadcast_to does', () => {
    const dims = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.boolean(), fc.boolean()), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(dims, fc.integer({ min: 0, max: 2 }), (list, drop) => {
        const shape = list.map(([dim]) => dim);
        const a = randomTensor(
          list.map(([dim, one]) => (one ? 1 : dim)),
          1,
        );
        const b = randomTensor(list.map(([dim, , one]) => (one ? 1 : dim)).slice(drop), 2);
        const full = HostTensor.zeros('float32', shape);
        const wide = (x: HostTensor) => callReference('broadcast_to', [x], { shape });
        const expected = callReference('sub', [callReference('add', [wide(a), full]), wide(b)]);
        const actual = callReference('sub', [callReference('add', [a, full]), b]);
        expect(firstDifference(actual, expected, EXACT)).toBeUndefined();
      }),
      { ...RUNS, numRuns: 200 },
    );
  });
});

/** The indices from start up to end by step, of those that `dim` elements have. */
function countedRange(
  dim: number,
  [start, end, step]: readonly [number, number, number],
): number[] {
  const indices: number[] = [];
  const from = start < 0 ? start + dim : start;
  const to = end < 0 ? end + dim : end;
  for (let i = 0; i < dim; i++) {
    const index = step > 0 ? i : dim - 1 - i;
    const first = step > 0 ? Math.max(from, 0) : Math.max(Math.min(from, dim - 1), 0);
    const steps = (index - first) / step;
    const isBeforeEnd = step > 0 ? index < to : index > to;
    if (steps >= 0 && Number.isInteger(steps) && isBeforeEnd) indices.push(index);
  }
  return indices;
}
