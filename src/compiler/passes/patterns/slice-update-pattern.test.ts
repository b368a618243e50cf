import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Device } from '../../../device/device.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { DEVICES } from '../../../device/testing/node-devices.ts';
import { TensorValue } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { compile } from '../../compile.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { textAfter } from '../../testing/text-after.ts';

function recognized(params: string, body: string, rest = ''): string {
  return textAfter(
    ['infer-types', 'to-graph', 'recognize-operators'],
    `def @main(${params}${rest}) { ${body} }`,
  );
}

const STATE = '%s: Tensor[(8, 4), int32], %r: Tensor[(2, 4), int32]';
const before = (end: number | string): string => `slice(%s, starts=[0, 0], ends=[${end}, 4])`;
const behind = (start: number | string): string => `slice(%s, starts=[${start}, 0], ends=[8, 4])`;

describe('an update of a slice that is spelled by slices', () => {
  test('anywhere, at an end, from the end', () => {
    const scattered = /full\(shape=\[1\], value=(\d)[^]*tensor_scatter\(.*axis=1\)/;
    const at = (body: string): string | undefined => scattered.exec(recognized(STATE, body))?.[1];
    expect(at(`concat(${before(3)}, %r, ${behind(5)}, axis=0)`)).toBe('3');
    expect(at(`concat(${before(3)}, %r, ${behind(-3)}, axis=-2)`)).toBe('3');
    expect(at(`concat(%r, ${behind(2)}, axis=0)`)).toBe('0');
    expect(at(`concat(${before(6)}, %r, axis=0)`)).toBe('6');
    expect(at(`concat(${before(-2)}, %r, axis=0)`)).toBe('6');
  });

  test('along an inner axis, at the same place of each outer one', () => {
    const params = '%s: Tensor[(b, 8, n), int32], %r: Tensor[(b, 1, n), int32]';
    const part = (from: number, to: number): string =>
      `slice(%s, starts=[0, ${from}, 0], ends=[b, ${to}, n])`;
    const text = recognized(params, `concat(${part(0, 3)}, %r, ${part(4, 8)}, axis=1)`);
    expect(text).toContain('full(shape=["b"], value=3, dtype="int32")');
    expect(text).toMatch(/tensor_scatter\(%s, %r, %\d+, axis=1\)/);
  });

  test.each([
    ['rows that are moved', STATE, `concat(${behind(2)}, %r, axis=0)`],
    ['a gap', STATE, `concat(${before(2)}, %r, ${behind(5)}, axis=0)`],
    ['rows that stay', STATE, `concat(${before(3)}, %r, ${behind(3)}, axis=0)`],
    ['another length', STATE, `concat(${before(3)}, %r, axis=0)`],
    [
      'a part of an inner axis',
      '%s: Tensor[(8, 4), int32], %r: Tensor[(2, 3), int32]',
      'concat(slice(%s, starts=[0, 1], ends=[6, 4]), %r, axis=0)',
    ],
    [
      'steps',
      '%s: Tensor[(4, 4), int32], %r: Tensor[(2, 4), int32]',
      'concat(slice(%s, starts=[0, 0], ends=[4, 4], steps=[2, 1]), %r, axis=0)',
    ],
    ['results of kernels', STATE, `let %s = relu(%s); concat(${before(6)}, %r, axis=0)`],
    [
      'a size that may be smaller',
      '%s: Tensor[(n, 4), int32], %r: Tensor[(2, 4), int32]',
      `concat(${before(3)}, %r, slice(%s, starts=[5, 0], ends=[n, 4]), axis=0)`,
    ],
  ])('not with %s', (_, params, body) => {
    expect(recognized(params, body)).not.toContain('tensor_scatter');
  });

  test('at a place that a size of another tensor says', () => {
    const params =
      '%s: Tensor[(2, 8, 4), int32], %r: Tensor[(2, 1, 4), int32], %m: Tensor[(i,), bool]';
    const part = (from: string, to: string): string =>
      `slice(%s, starts=[0, ${from}, 0], ends=[2, ${to}, 4])`;
    const body = `concat(${part('0', 'i')}, %r, ${part('i + 1', '8')}, axis=1)`;
    expect(recognized(params, body, ', bounds={i: (0, 7)}')).toMatch(
      /dims_tensor\(dims=\["i"\]\)[^]*tensor_scatter\(%s, %r, %\d+, axis=1\)/,
    );
    expect(recognized(params, body, ', bounds={i: (0, 8)}')).not.toContain('tensor_scatter');
  });

  test('of a size that is large enough by its bounds', () => {
    const params = '%s: Tensor[(n, 4), int32], %r: Tensor[(2, 4), int32]';
    const body = `concat(${before(3)}, %r, slice(%s, starts=[5, 0], ends=[n, 4]), axis=0)`;
    expect(recognized(params, body, ', bounds={n: (5, 90)}')).toContain('tensor_scatter');
  });
});

describe.each(DEVICES)('such an update on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  test('goes to the place that a size says', async () => {
    const text = `def @main(${STATE}, %m: Tensor[(i,), float32], bounds={i: (0, 6)}) {
      concat(${before('i')}, %r, ${behind('i + 2')}, axis=0)
    }`;
    const devices = [device, createHostDevice()];
    const vm = await VirtualMachine.create(compile(parseModule(text)), { devices });
    const first = vm.tensor(HostTensor.zeros('int32', [8, 4]));
    const { buffer } = first;
    let state = first;
    for (const at of [0, 6, 3]) {
      const inputs = [
        state,
        HostTensor.splat('int32', [2, 4], at + 1),
        HostTensor.zeros('float32', [at]),
      ];
      const result = await vm.invoke('main', inputs, { donate: [0] });
      if (!(result instanceof TensorValue)) throw new Error('no tensor');
      state = result;
    }
    expect(state.buffer).toBe(buffer);
    const [read] = await vm.read([state]);
    expect([...(read?.data ?? [])].filter((_, i) => i % 4 === 0)).toEqual([1, 1, 0, 4, 4, 0, 7, 7]);
    vm.release(state);
    vm.dispose();
  });

  test('changes the memory of the state, and makes none', async () => {
    const text = `def @main(${STATE}) { concat(${before(3)}, %r, ${behind(5)}, axis=0) }`;
    const devices = [device, createHostDevice()];
    const vm = await VirtualMachine.create(compile(parseModule(text)), { devices });
    const row = (value: number) => HostTensor.splat('int32', [2, 4], value);
    const step = async (state: TensorValue, value: number): Promise<TensorValue> => {
      const result = await vm.invoke('main', [state, row(value)], { donate: [0] });
      if (result instanceof TensorValue) return result;
      throw new Error('no tensor');
    };
    const first = vm.tensor(HostTensor.splat('int32', [8, 4], 7));
    const { buffer } = first;
    let state = first;
    for (let n = 0; n < 4; n++) state = await step(state, n);
    const { buffersCreated, bindGroupsCreated } = device.counters();
    for (let n = 4; n < 12; n++) state = await step(state, n);
    expect(state.buffer).toBe(buffer);
    expect(device.counters()).toMatchObject({ buffersCreated, bindGroupsCreated });
    const [read] = await vm.read([state]);
    expect([...(read?.data ?? [])].map(Number)).toEqual(
      [7, 7, 7, 11, 11, 7, 7, 7].flatMap((value) => [value, value, value, value]),
    );
    vm.release(state);
    vm.dispose();
  });
});
