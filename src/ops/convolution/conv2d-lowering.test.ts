import { describe, expect, test } from 'vitest';
import type { AdapterClass } from '../../core/contracts/launch-plan.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { inferConcreteCall } from '../infer-concrete-call.ts';
import { conv2d } from './conv2d.ts';
import { lowerConv2d } from './conv2d-lowering.ts';
import { plannerCaps } from '../../testing/planner-caps.ts';

const CAPS = plannerCaps('software', { subgroups: true, subgroupMinSize: 4 });

function kernelsOf(
  adapterClass: AdapterClass,
  ...[x, w, attributes = {}]: [Shape, Shape, Attributes?]
) {
  const inputs = [x, w].map((shape) => ({ dtype: 'float32', shape }) as const);
  const call = inferConcreteCall(conv2d, inputs, attributes);
  return lowerConv2d({ inputs, ...call, caps: { ...CAPS, adapterClass } });
}

const PADS = { pads: [1, 1, 1, 1] };

describe('kernels of conv2d', () => {
  test.each<[AdapterClass, Shape, Shape, Attributes, string]>([
    ['software', [1, 64, 56, 56], [64, 64, 3, 3], PADS, 'winograd-weights'],
    ['software', [1, 64, 13, 13], [256, 64, 3, 3], PADS, 'winograd-weights'],
    ['software', [1, 512, 7, 7], [512, 512, 3, 3], PADS, 'conv2d-columns'],
    ['software', [1, 8, 60, 60], [16, 8, 1, 1], { strides: [2, 2] }, 'conv2d-columns'],
    ['software', [1, 8, 60, 60], [16, 8, 3, 3], { strides: [2, 2] }, 'conv2d-tile'],
    ['software', [1, 64, 1000, 1000], [64, 64, 5, 5], {}, 'conv2d-tile'],
    ['software', [1, 64, 20, 20], [128, 1, 3, 3], { groups: 64 }, 'window-tile'],
    ['software', [1, 1, 28, 28], [8, 1, 5, 5], {}, 'conv2d-tile'],
    ['software', [1, 64, 40, 40], [64, 1, 9, 11], { groups: 64 }, 'conv2d-tile'],
    ['software', [1, 1, 1, 640], [258, 1, 1, 256], { strides: [1, 128] }, 'conv2d-columns'],
    ['software', [1, 3, 5, 50], [5, 3, 2, 13], {}, 'conv2d-direct'],
    ['software', [1, 16, 5, 50], [32, 8, 2, 13], { groups: 2 }, 'conv2d-direct'],
    ['discrete', [1, 64, 20, 20], [64, 1, 3, 3], { groups: 64 }, 'conv2d-direct'],
    ['integrated', [1, 64, 66, 66], [64, 1, 3, 3], { groups: 64 }, 'window-tile'],
    ['discrete', [1, 64, 56, 56], [64, 64, 3, 3], PADS, 'winograd-weights'],
    ['integrated', [1, 32, 23, 25], [33, 32, 3, 3], PADS, 'winograd-weights'],
    ['discrete', [1, 64, 56, 56], [31, 64, 3, 3], PADS, 'matmul-tiled'],
    ['discrete', [1, 512, 7, 7], [512, 512, 3, 3], PADS, 'matmul-tiled'],
    ['integrated', [1, 64, 30, 30], [64, 32, 3, 3], { groups: 2 }, 'matmul-tiled'],
    ['discrete', [1, 64, 9, 9], [8, 64, 3, 3], {}, 'matmul-vector'],
    ['discrete', [1, 64, 30, 30], [28, 16, 3, 3], { groups: 4 }, 'conv2d-direct'],
    ['discrete', [4096, 64, 60, 60], [16, 64, 3, 3], {}, 'conv2d-direct'],
    ['software', [1, 3, 224, 224], [64, 3, 3, 3], PADS, 'conv2d-tile'],
    ['software', [1, 16, 20, 20], [32, 16, 3, 3], PADS, 'conv2d-tile'],
    ['software', [1, 64, 56, 56], [64, 64, 3, 3], { ...PADS, strides: [2, 2] }, 'conv2d-columns'],
    ['software', [1, 64, 56, 56], [64, 64, 3, 3], { ...PADS, dilations: [1, 2] }, 'conv2d-columns'],
    ['software', [1, 64, 56, 56], [64, 32, 3, 3], { ...PADS, groups: 2 }, 'conv2d-tile'],
    ['software', [1, 64, 56, 56], [64, 64, 1, 1], {}, 'matmul-tile'],
  ])('%s: %j by %j %j', (adapterClass, x, w, attributes, first) => {
    expect(kernelsOf(adapterClass, x, w, attributes)[0]?.name).toBe(first);
  });

  test('Winograd convolutions of any batch and size share their pipelines', () => {
    const shapes: [Shape, Shape][] = [
      [
        [1, 64, 56, 56],
        [64, 64, 3, 3],
      ],
      [
        [3, 32, 100, 200],
        [48, 32, 3, 3],
      ],
    ];
    const [first, second] = shapes.map(([x, w]) =>
      kernelsOf('software', x, w, PADS).map(({ name, source, constants, workgroupSize }) =>
        JSON.stringify({ name, source, constants, workgroupSize }),
      ),
    );
    expect(new Set(first).size).toBe(4);
    expect(new Set(second)).toEqual(new Set(first));
  });

  test('Winograd convolutions of many channels add up parts of them on discrete adapters', () => {
    const kernels = kernelsOf('discrete', [1, 512, 12, 12], [32, 512, 3, 3], PADS);
    expect(kernels.map(({ name }) => name)).toEqual([
      'winograd-weights',
      'winograd-image',
      'matmul-tiled',
      'matmul-sum',
      'winograd-output',
    ]);
  });

  test('the scratch of a Winograd convolution stays small, however large the image', () => {
    const kernels = kernelsOf('software', [1, 64, 500, 500], [64, 64, 3, 3], PADS);
    const lengths = kernels.flatMap(({ writes }) =>
      writes.map(({ to }) => (to.kind === 'scratch' ? to.byteLength : 0)),
    );
    expect(Math.max(...lengths)).toBeLessThan(2 << 20);
    expect(kernels.filter(({ name }) => name === 'winograd-output').length).toBeGreaterThan(30);
  });

  test('windows of many images are gathered and multiplied in lots', () => {
    const kernels = kernelsOf('software', [12, 32, 20, 20], [8, 32, 7, 7]);
    const isGather = ({ name }: { name: string }): boolean => name === 'conv2d-columns';
    expect(kernels.map(isGather)).toEqual([true, false, true, false, true, false, true, false]);
    expect(kernels.map(({ params }) => params.first_z?.value)).toEqual([0, 0, 3, 3, 6, 6, 9, 9]);
    expect(kernels.map(({ workgroups }) => workgroups[2])).toEqual(kernels.map(() => 3));
    const [scratch] = kernels.flatMap(({ writes }) => writes.map(({ to }) => to));
    expect(scratch).toMatchObject({ kind: 'scratch', byteLength: 3 * 32 * 49 * 196 * 4 });
  });

  test('the weights of a Winograd convolution are transformed in blocks of channels', () => {
    const kernels = kernelsOf('software', [1, 64, 13, 15], [81, 64, 3, 3], PADS);
    expect(kernels.map(({ name }) => name)).toEqual([
      'winograd-weights',
      'winograd-image',
      'matmul-tile',
      'winograd-output',
      'winograd-weights',
      'matmul-tile',
      'winograd-output',
    ]);
    const firsts = kernels.flatMap(({ params }) => params.first_channel?.value ?? []);
    expect(firsts).toEqual([0, 64]);
  });
});
