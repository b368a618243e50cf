import { expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import { HOST, WASM } from '../../../device/testing/node-devices.ts';
import type { Device } from '../../../device/device.ts';
import { inTier } from '../../../testing/tier.ts';
import { AdtValue, TensorValue } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { compile, type CompileOptions } from '../../compile.ts';
import { call, constant, func, moduleOf, scalar, tuple, variable } from '../../ir/build.ts';
import type { Expr, Module } from '../../ir/expr.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { printModule } from '../../ir/text/print.ts';
import { postOrder } from '../../ir/walk/visit.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import { isTranspose } from './layout-graph.ts';

/** A tensor (1, height, width, channels). */
interface Picture {
  readonly expr: Expr;
  readonly shape: readonly [number, number, number, number];
}

const SIZE = 4;

/** Chains around convolutions, with channels last. Elements are small multiples of powers of two: sums are exact in any order. */
function randomChain(seed: number): Module {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] ?? pick(list);
  const numbers = (shape: readonly number[], dtype: 'float32' | 'int8' = 'float32'): Expr => {
    const values = Array.from({ length: elementCount(shape) }, () => below(3) - 1);
    return constant(HostTensor.from(dtype, [...shape], values));
  };
  const first = (x: Expr): Expr => call('transpose', [x], { perm: [0, 3, 1, 2] });
  const last = (x: Expr): Expr => call('transpose', [x], { perm: [0, 2, 3, 1] });
  const params = [0, 1].map((i) => variable(`x${i}`, 'float32', [1, SIZE, SIZE, 4]));
  const row = variable('row', 'float32', [SIZE, 4]);
  const pictures: Picture[] = params.map((expr) => ({ expr, shape: [1, SIZE, SIZE, 4] }));
  const results: Expr[] = [];
  const some = (): Picture =>
    pictures[Math.max(0, pictures.length - 1 - below(3))] ?? pick(pictures);
  /** Of the size that parameters have, with numbers that stay small. */
  const fitted = ({ expr, shape: [, height, width, channels] }: Picture): Expr => {
    const cut = { starts: [0, 0, 0, 0], ends: [1, SIZE, SIZE, 4] };
    const padded = call('pad', [expr], {
      pads: [
        0,
        0,
        0,
        0,
        0,
        Math.max(0, SIZE - height),
        Math.max(0, SIZE - width),
        Math.max(0, 4 - channels),
      ],
    });
    return call('clip', [call('floor', [call('slice', [padded], cut)])], { min: -4, max: 4 });
  };
  const small = (): Picture => ({ expr: fitted(some()), shape: [1, SIZE, SIZE, 4] });
  const makers: (() => Picture)[] = [
    () => {
      const product = call('conv2d', [first(small().expr), numbers([4, 4, 1, 1])]);
      return { expr: last(product), shape: [1, SIZE, SIZE, 4] };
    },
    () => {
      const pooled = call('max_pool', [first(small().expr)], { kernel: [2, 2], strides: [2, 2] });
      return { expr: last(pooled), shape: [1, SIZE / 2, SIZE / 2, 4] };
    },
    () => {
      const { expr, shape } = small();
      return { expr: call(pick(['add', 'mul', 'maximum']), [expr, numbers([4])]), shape };
    },
    () => {
      const { expr, shape } = small();
      return { expr: call('add', [row, call('relu', [expr])]), shape };
    },
    () => {
      const axis = 1 + below(3);
      const { expr } = small();
      const shape = [1, SIZE, SIZE, 4].map((size, i) => (i === axis ? 2 * size : size));
      const [, height = 0, width = 0, channels = 0] = shape;
      return {
        expr: call('concat', [expr, fitted(some())], { axis: axis - 4 }),
        shape: [1, height, width, channels],
      };
    },
    () => {
      const { expr, shape } = small();
      const mean = call('reduce_mean', [expr], { axes: [1, 2], keepdims: true });
      return { expr: call('mul', [expr, mean]), shape };
    },
    () => {
      const { expr, shape } = small();
      const index = constant(HostTensor.from('int32', [4], [3, 0, 0, 1]));
      return { expr: call('gather', [expr, index], { axis: 1 + below(3) }), shape };
    },
    () => {
      const scale = constant(HostTensor.from('float32', [4], [0.5, 1, 2, 0.25]));
      const { expr, shape } = small();
      const codes = call('quantize', [expr, scale, numbers([4], 'int8')]);
      return { expr: call('dequantize', [codes, scale, numbers([4], 'int8')]), shape };
    },
    () => {
      const { expr } = small();
      const most = call('cast', [call('arg_max', [expr], { axis: 3 })], { to: 'float32' });
      return { expr: call('sub', [expr, most]), shape: [1, SIZE, SIZE, 4] };
    },
  ];
  for (let i = 0; i < 8; i++) pictures.push(pick(makers)());
  const rows = call('reshape', [fitted(some())], { shape: [1, SIZE * SIZE * 4] });
  results.push(call('matmul', [rows, numbers([SIZE * SIZE * 4, 3])]));
  results.push(call('reduce_sum', [fitted(some())], { axes: [1, 2] }));
  results.push(call('add', [fitted(some()), scalar(0.5)]), first(fitted(some())));
  return moduleOf({ main: func([...params, row], tuple(results)) });
}

/** The elements of all results on each device, and how many transposes move. */
async function run(
  module: Module,
  devices: readonly Device[],
  options: CompileOptions,
): Promise<{ results: HostTensor[][]; moved: number }> {
  let moved = 0;
  const executable = compile(module, {
    ...options,
    dump(pass, after) {
      if (pass === 'simplify') moved = transposedElements(after);
    },
  });
  const random = seededRandom(7);
  const args = (module.functions.get('main')?.params ?? []).map(({ type }) => {
    const shape = type?.kind === 'tensor' ? type.shape.map(Number) : [];
    const values = Array.from({ length: elementCount(shape) }, () => Math.floor(random() * 9) - 4);
    return HostTensor.from('float32', shape, values);
  });
  const results: HostTensor[][] = [];
  for (const device of devices) {
    const vm = await VirtualMachine.create(executable, { devices: [device] });
    const result = await vm.get('main')(...args);
    const fields = result instanceof AdtValue ? result.fields : [];
    results.push([...(await vm.read(fields.filter((field) => field instanceof TensorValue)))]);
    vm.release(result);
    vm.dispose();
  }
  return { results, moved };
}

function transposedElements({ functions }: Module): number {
  const types = new TypeInference();
  let count = 0;
  for (const { body } of functions.values()) {
    for (const expr of postOrder(body).filter(isTranspose)) {
      count += elementCount(tensorTypeOf(expr, types)?.shape.map(Number) ?? []);
    }
  }
  return count;
}

test('random chains give the same bits with fewer transposes, on the host and on wasm', async () => {
  const devices = [await HOST.open(), await WASM.open()];
  let [before, after] = [0, 0];
  for (let seed = 1; seed <= inTier({ quick: 6, long: 400 }); seed++) {
    const module = randomChain(seed);
    const apart = await run(module, devices, { without: ['choose-layouts'] });
    const chosen = await run(module, devices, { verify: true });
    const text = `seed ${seed}\n${printModule(module)}`;
    expect(
      chosen.results.map(({ length }) => length),
      text,
    ).toEqual([4, 4]);
    expect(chosen.results, text).toEqual(apart.results);
    expect(chosen.moved, text).toBeLessThanOrEqual(apart.moved);
    before += apart.moved;
    after += chosen.moved;
  }
  expect(after).toBeLessThan(before);
  for (const device of devices) device.destroy();
});

test('derivatives of a chain are the same bits', async () => {
  const module = parseModule(`
    def @loss(%x: Tensor[(1, 4, 4, 3), float32], %w: Tensor[(3, 3, 1, 1), float32]) {
      let %first = transpose(%x, perm=[0, 3, 1, 2]);
      let %a = relu(transpose(conv2d(%first, %w), perm=[0, 2, 3, 1]));
      let %b = transpose(mul(%a, [1f, 2f, -1f]), perm=[0, 3, 1, 2]);
      reduce_sum(conv2d(%b, %w))
    }
    def @main(%x: Tensor[(1, 4, 4, 3), float32], %w: Tensor[(3, 3, 1, 1), float32]) {
      let %result = gradient(@loss)(%x, %w);
      (%result.0, %result.1.0, %result.1.1)
    }`);
  const devices = [await HOST.open()];
  const apart = await run(module, devices, { without: ['choose-layouts'] });
  const chosen = await run(module, devices, { verify: true });
  expect(apart.results.map(({ length }) => length)).toEqual([3]);
  expect(chosen.results).toEqual(apart.results);
  expect(chosen.moved).toBeLessThan(apart.moved);
  for (const device of devices) device.destroy();
});
