import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KERNEL_FAMILIES } from '../../ops/tables/kernel-ops.ts';
import type { OpCase } from '../../ops/op-cases.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import type { Device } from '../device.ts';
import { compareOperator } from '../testing/compare-operator.ts';
import { createWasmDevice } from '../wasm/wasm-device.ts';

const RUNS = { seed: 15, numRuns: 120 };
const size = (max: number) => fc.integer({ min: 1, max });

interface RandomAxis {
  readonly size: number;
  readonly kernel: number;
  readonly stride: number;
  readonly dilation: number;
  readonly pads: readonly [number, number];
}

const axisUpTo = (most: number, window: fc.Arbitrary<number>): fc.Arbitrary<RandomAxis> =>
  fc
    .record({
      size: size(most),
      kernel: window,
      stride: size(3),
      dilation: size(3),
      pads: fc.tuple(fc.nat(3), fc.nat(3)),
    })
    .filter(({ size: length, kernel, dilation, pads: [before, after] }) => {
      return dilation * (kernel - 1) < length + before + after;
    });

const axis = axisUpTo(21, fc.oneof(size(4), size(11)));
const spatial = fc.tuple(axis, axis);
const short = axisUpTo(9, size(4));
const volume = fc.tuple(short, short, short);
/** Windows along one to three axes. */
const axes = fc.oneof(fc.tuple(axis), spatial, volume);

const attributesOf = (windows: readonly RandomAxis[]) => ({
  strides: windows.map(({ stride }) => stride),
  dilations: windows.map(({ dilation }) => dilation),
  pads: [...windows.map(({ pads }) => pads[0]), ...windows.map(({ pads }) => pads[1])],
});

function caseOf(shapes: readonly (readonly number[])[], attributes: OpCase['attributes']): OpCase {
  return {
    title: JSON.stringify([shapes, attributes]),
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape, range: [-1, 1] })),
    attributes: attributes ?? {},
  };
}

const convolution = (spatialAxes: fc.Arbitrary<readonly RandomAxis[]>): fc.Arbitrary<OpCase> =>
  fc
    .record({
      windows: spatialAxes,
      batch: size(2),
      groups: size(4),
      groupIn: fc.oneof(fc.constant(1), size(9)),
      groupOut: fc.oneof(fc.constant(1), size(13)),
      hasBias: fc.boolean(),
    })
    .map(({ windows, batch, groups, groupIn, groupOut, hasBias }) => {
      const x = [batch, groups * groupIn, ...windows.map((window) => window.size)];
      const w = [groups * groupOut, groupIn, ...windows.map(({ kernel }) => kernel)];
      const bias = hasBias ? [[groups * groupOut]] : [];
      return caseOf([x, w, ...bias], { ...attributesOf(windows), groups });
    });

/** Pads are what is cut off in front; behind, more or less than all is left. */
const transposed: fc.Arbitrary<OpCase> = fc
  .record({
    windows: axes,
    more: fc.integer({ min: -3, max: 3 }),
    batch: size(2),
    groups: size(3),
    groupIn: size(5),
    groupOut: size(7),
    hasBias: fc.boolean(),
  })
  .map(({ windows, more, batch, groups, groupIn, groupOut, hasBias }) => {
    const x = [batch, groups * groupIn, ...windows.map((window) => window.size)];
    const w = [groups * groupIn, groupOut, ...windows.map(({ kernel }) => kernel)];
    const bias = hasBias ? [[groups * groupOut]] : [];
    const { pads, ...attributes } = attributesOf(windows);
    const sizes = windows.map((window) => {
      const all = (window.size - 1) * window.stride + (window.kernel - 1) * window.dilation + 1;
      return Math.max(all - window.pads[0] + more, 1);
    });
    const cut = pads.slice(0, windows.length);
    return caseOf([x, w, ...bias], { ...attributes, pads: cut, size: sizes, groups });
  });

const pool = (more: fc.Arbitrary<OpCase['attributes']>): fc.Arbitrary<OpCase> =>
  fc
    .record({
      windows: axes,
      leading: fc.tuple(size(2), size(3)),
      isCeil: fc.boolean(),
      more,
    })
    .filter(({ windows }) =>
      windows.every(({ kernel, dilation, pads }) => Math.max(...pads) <= (kernel - 1) * dilation),
    )
    .map(({ windows, leading, isCeil, more: others }) => {
      const kernel = windows.map((window) => window.kernel);
      const attributes = { kernel, ...attributesOf(windows), ceil_mode: isCeil, ...others };
      return caseOf([[...leading, ...windows.map((window) => window.size)]], attributes);
    });

const CASES: Readonly<Record<string, fc.Arbitrary<OpCase>>> = {
  conv2d: convolution(spatial),
  conv3d: convolution(volume),
  conv_transpose: transposed,
  max_pool: pool(fc.constant({})),
  sum_pool: pool(fc.constant({})),
  avg_pool: pool(fc.boolean().map((counts) => ({ count_include_pad: counts }))),
};

describe('windows of random sizes on wasm', () => {
  let device: Device;
  beforeAll(() => {
    device = createWasmDevice();
  });
  afterAll(() => device.destroy());

  test.each(Object.entries(CASES))('%s gives what its reference gives', async (name, cases) => {
    const op = KERNEL_FAMILIES.convolution.map(withCases).find((found) => found.name === name);
    if (op === undefined) throw new Error(`no operator ${name}`);
    await fc.assert(
      fc.asyncProperty(cases, async (opCase) => {
        const tested = { ...op, cases: () => [opCase] };
        expect((await compareOperator(device, tested)).differences).toEqual([]);
      }),
      RUNS,
    );
  });

  test('a NaN is the maximum of all windows that see it', async () => {
    const shape = [1, 1, 9, 17];
    const values = Array.from({ length: 9 * 17 }, (_, i) => (i % 23 === 5 ? Number.NaN : -i));
    const cases = [1, 2, 3].map((stride): OpCase => {
      const attributes = { kernel: [3, 3], strides: [stride, stride], pads: [1, 1, 1, 1] };
      return {
        title: `NaN ${stride}`,
        inputs: [{ dtype: 'float32', shape, values }],
        attributes,
      };
    });
    const op = KERNEL_FAMILIES.convolution.map(withCases).find(({ name }) => name === 'max_pool');
    if (op === undefined) throw new Error('no max_pool');
    const tested = { ...op, cases: () => cases };
    expect((await compareOperator(device, tested)).differences).toEqual([]);
  });
});
