import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { randomTensor } from '../../testing/random-tensor.ts';
import { allCoordinates, at, callReference } from '../testing/call-reference.ts';
import { type ConvolutionPlan, convolveByProduct, convolveByTap } from './convolution.ts';
import type { WindowAxis } from './window.ts';

const SUMS = { rtol: 1e-6, atol: 1e-6 };
const RUNS = { seed: 7, numRuns: 60 };
const size = (max: number) => fc.integer({ min: 1, max });

const axisArbitrary: fc.Arbitrary<WindowAxis> = fc
  .record({
    size: size(20),
    kernel: size(4),
    stride: size(3),
    dilation: size(3),
    padBefore: fc.integer({ min: 0, max: 3 }),
    padAfter: fc.integer({ min: 0, max: 3 }),
  })
  .map((axis) => {
    const extent = axis.dilation * (axis.kernel - 1) + 1;
    const room = axis.size + axis.padBefore + axis.padAfter - extent;
    return { ...axis, count: room < 0 ? 0 : Math.floor(room / axis.stride) + 1 };
  })
  .filter((axis) => axis.count > 0);

describe('convolution', () => {
  const sizes = fc.record({ batch: size(2), groups: size(3), groupIn: size(5), groupOut: size(6) });

  function planOf(
    {
      batch,
      groups,
      groupIn,
      groupOut,
    }: Record<'batch' | 'groups' | 'groupIn' | 'groupOut', number>,
    rows: WindowAxis,
    columns: WindowAxis,
  ): ConvolutionPlan {
    const [channels, outChannels] = [groups * groupIn, groups * groupOut];
    const floats = (shape: Shape) =>
      new Float32Array(randomTensor(shape, shape.length).bytes.buffer);
    return {
      x: floats([batch, channels, rows.size, columns.size]),
      w: floats([outChannels, groupIn, rows.kernel, columns.kernel, 1]),
      bias: floats([outChannels]),
      y: new Float32Array(batch * outChannels * rows.count * columns.count),
      batch,
      channels,
      outChannels,
      groups,
      rows,
      columns,
    };
  }

  test('as a product and tap by tap it equals the definition', () => {
    fc.assert(
      fc.property(sizes, axisArbitrary, axisArbitrary, (counts, rows, columns) => {
        const plan = planOf(counts, rows, columns);
        const expected = defineConvolution(plan);
        for (const algorithm of [convolveByTap, convolveByProduct]) {
          plan.y.fill(Number.NaN);
          for (let image = 0; image < plan.batch; image++) {
            for (let group = 0; group < plan.groups; group++) algorithm(plan, image, group);
          }
          const shape = [plan.y.length];
          const actual = new HostTensor('float32', shape, plan.y);
          expect(
            firstDifference(actual, HostTensor.from('float32', shape, expected), SUMS),
          ).toBeUndefined();
        }
      }),
      RUNS,
    );
  });

  test('blocks of pixels may begin and end within a row of the image', () => {
    const axis = (count: number, padBefore: number): WindowAxis => ({
      size: count,
      kernel: 3,
      stride: 1,
      dilation: 1,
      padBefore,
      padAfter: 1,
      count: count + padBefore - 1,
    });
    const plan = planOf(
      { batch: 1, groups: 1, groupIn: 40, groupOut: 5 },
      axis(19, 1),
      axis(23, 1),
    );
    convolveByProduct(plan, 0, 0);
    const actual = new HostTensor('float32', [plan.y.length], plan.y);
    const expected = HostTensor.from('float32', [plan.y.length], defineConvolution(plan));
    expect(firstDifference(actual, expected, SUMS)).toBeUndefined();
  });
});

/** The definition: for each output element a sum over channels and taps, zero outside. */
function defineConvolution(plan: ConvolutionPlan): number[] {
  const { rows, columns, groups, channels, outChannels } = plan;
  const [groupIn, groupOut] = [channels / groups, outChannels / groups];
  return allCoordinates([plan.batch, outChannels, rows.count, columns.count]).map((coords) => {
    const [n = 0, k = 0, i = 0, j = 0] = coords;
    let sum = plan.bias?.[k] ?? 0;
    for (const [c = 0, r = 0, s = 0] of allCoordinates([groupIn, rows.kernel, columns.kernel])) {
      const y = i * rows.stride + r * rows.dilation - rows.padBefore;
      const x = j * columns.stride + s * columns.dilation - columns.padBefore;
      if (y < 0 || y >= rows.size || x < 0 || x >= columns.size) continue;
      const channel = Math.floor(k / groupOut) * groupIn + c;
      const weight = plan.w[((k * groupIn + c) * rows.kernel + r) * columns.kernel + s] ?? 0;
      sum += weight * (plan.x[((n * channels + channel) * rows.size + y) * columns.size + x] ?? 0);
    }
    return sum;
  });
}

describe('pooling', () => {
  test('windows over an all-ones image give 1, or the part that is image when padding counts', () => {
    const x = HostTensor.splat('float32', [1, 1, 6, 7], 1);
    const attributes = { kernel: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1], ceil_mode: true };
    expect(Array.from(callReference('avg_pool', [x], attributes).data, Number)).toEqual(
      Array.from({ length: 16 }, () => 1),
    );
    const counted = callReference('avg_pool', [x], { ...attributes, count_include_pad: true });
    expect(counted.shape).toEqual([1, 1, 4, 4]);
    // The last row hangs over the padding by one, which never counts: 2 rows of padded image.
    const firstRow = Array.from(counted.data, Number).slice(0, 5);
    expect(firstRow.map((value) => value.toFixed(3))).toEqual([
      '0.444',
      '0.667',
      '0.667',
      '0.444',
      '0.667',
    ]);
    expect(at(counted, 12)).toBeCloseTo(2 / 6);
  });

  test('NaN stays NaN wherever it stands in the window', () => {
    for (let place = 0; place < 4; place++) {
      const x = randomTensor([1, 1, 2, 2], place);
      x.elements[place] = Number.NaN;
      expect(at(callReference('max_pool', [x], { kernel: [2, 2] }), 0)).toBeNaN();
      expect(at(callReference('reduce_max', [x]), 0)).toBeNaN();
      expect(at(callReference('reduce_mean', [x]), 0)).toBeNaN();
    }
  });
});
