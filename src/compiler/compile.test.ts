import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { AdtValue, TensorValue, type Value } from '../runtime/values/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { compile } from './compile.ts';
import { call, constant, func, moduleOf, scalar, tuple, variable } from './ir/build.ts';
import type { Expr, Module, VarExpr } from './ir/expr.ts';

const CONV = { strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1], groups: 1 };

function classifier(): Module {
  const x = variable('image', 'float32', ['batch', 1, 4, 4]);
  const weights = constant(HostTensor.from('float32', [2, 1, 3, 3], [...Array(18).keys()]));
  const conv = call('conv2d', [x, weights], CONV, { source: 'conv' });
  const active = call('relu', [call('add', [conv, scalar(-30)])]);
  const flat = call('reshape', [active], { shape: [1, 32] });
  const dense = call('matmul', [flat, constant(HostTensor.splat('float32', [32, 3], 0.5))]);
  const main = func([x], call('softmax', [dense], { axis: 1 }), { resultNames: ['scores'] });
  return moduleOf({ main }, { producer: 'test' });
}

describe('compile', () => {
  test('gives the same bytes twice', () => {
    const options = { dims: { batch: 1 } };
    expect(compile(classifier(), options).toBytes()).toEqual(
      compile(classifier(), options).toBytes(),
    );
  });

  test('refuses sizes of dimensions that no parameter has', () => {
    expect(() => compile(classifier(), { dims: { bacth: 1 } })).toThrow(
      'dims: got "bacth", expected names among "batch".',
    );
  });

  test.each<[string, unknown, string]>([
    ['a misspelt one', { rulez: [] }, 'Did you mean rules?'],
    [
      'a pass without its place',
      { passes: [{ name: 'mine', run: () => undefined }] },
      'expected a list, each { pass, before } or { pass, after }.',
    ],
    [
      'no pass that may be left out',
      { without: ['fuze'] },
      'compile: got without ["fuze"], expected a list, each "inline" or',
    ],
    [
      'a pass that returns nothing',
      { passes: [{ pass: { name: 'mine', run: () => undefined }, before: 'fuse' }] },
      'result of the pass mine: got undefined, expected a module. A pass that changes nothing returns its module.',
    ],
    [
      'a pass that leaves a node of its own',
      {
        passes: [
          {
            pass: {
              name: 'mine',
              run: (module: Module) => ({
                ...module,
                functions: new Map([['main', { kind: 'x' }]]),
              }),
            },
            before: 'fuse',
          },
        ],
      },
      'result of the pass mine: got {"kind":"x"} as a part of a function, expected a node of the IR',
    ],
  ])('refuses options: %s', (_, options, message) => {
    expect(() => compile(classifier(), options as never)).toThrow(message);
  });

  test('refuses what is no module', () => {
    expect(() => compile('def @main() { 1 }' as never)).toThrow(
      'compile: got "def @main() { 1 }", expected a module. importOnnx makes one of a model, parseModule of a text.',
    );
  });

  test('promises names, dtypes and shapes to callers', () => {
    const { functions, metadata } = compile(classifier(), { dims: { batch: 1 } });
    expect(functions[0]?.signature).toEqual({
      params: [{ kind: 'tensor', dtype: 'float32', shape: [1, 1, 4, 4] }],
      results: [{ name: 'scores', type: { kind: 'tensor', dtype: 'float32', shape: [1, 3] } }],
    });
    expect(metadata).toEqual({ producer: 'test' });
  });

  test('shows the module after each pass and reports progress', () => {
    const dumped: string[] = [];
    const progress: string[] = [];
    compile(classifier(), {
      dims: { batch: 1 },
      dump: (pass) => dumped.push(pass),
      onProgress: (done, total) => progress.push(`${done}/${total}`),
    });
    expect(dumped).toMatchInlineSnapshot(`
      [
        "source",
        "bind-dims",
        "infer-types",
        "expand-training",
        "inline",
        "name-unknown-dims",
        "gradient",
        "to-graph",
        "choose-layouts",
        "fold-constants",
        "simplify",
        "recognize-operators",
        "widen-float16",
        "fold-affine-into-weights",
        "fold-constants",
        "eliminate-common-subexpressions",
        "place-devices",
        "fuse",
        "to-anf",
        "lower-match",
        "allocate-adt-tags",
        "tail-calls",
        "lambda-lift",
        "split-tuples",
        "plan-memory",
        "lower-shapes",
        "liveness",
      ]
    `);
    expect(progress.at(-1)).toBe(`${dumped.length}/${dumped.length}`);
  });

  test('stores equal constants and equal primitives once, splats as one element', () => {
    const x = variable('x', 'float32', [4]);
    const weights = () => constant(HostTensor.from('float32', [4], [1, 2, 3, 4]));
    const first = call('softmax', [call('mul', [x, weights()])], { axis: 0 });
    const second = call('softmax', [call('mul', [first, weights()])], { axis: 0 });
    const wide = call('add', [second, constant(HostTensor.splat('float32', [2 ** 20, 4], 1))]);
    const executable = compile(moduleOf({ main: func([x], wide) }));
    expect(executable.primitives.map(({ name }) => name)).toEqual([
      'mul_softmax_mul',
      'softmax',
      'add',
    ]);
    const tensors = executable.constants.filter((entry) => entry.kind === 'tensor');
    expect(tensors.map(({ isSplat, byteLength }) => [isSplat, byteLength])).toEqual([
      [false, 16],
      [true, 4],
    ]);
  });

  test('a chain of 10,000 operators', () => {
    const x = variable('x', 'float32', [2]);
    let body: Expr = x;
    for (let i = 0; i < 5000; i++) body = call('softmax', [call('exp', [body])], { axis: 0 });
    const { primitives } = compile(moduleOf({ main: func([x], body) }));
    expect(primitives.map(({ name }) => name)).toEqual([
      'exp_softmax_exp',
      'softmax_exp',
      'softmax',
    ]);
  });

  test('a chain of 200 elementwise operators is cut into several kernels', () => {
    const x = variable('x', 'float32', [2]);
    let body: Expr = x;
    for (let i = 0; i < 100; i++) body = call('exp', [call('sigmoid', [body])]);
    const { primitives } = compile(moduleOf({ main: func([x], body) }));
    // Equal ones are one.
    expect(primitives.map((primitive) => primitive.body.length)).toEqual([64, 8]);
  });
});

describe('a compiled program on the host device', () => {
  async function run(
    params: readonly VarExpr[],
    body: Expr,
    inputs: readonly HostTensor[],
  ): Promise<HostTensor[]> {
    const device = createHostDevice();
    const vm = await VirtualMachine.create(compile(moduleOf({ main: func(params, body) })), {
      devices: [device],
    });
    const result = await vm.get('main')(...inputs);
    const results = await vm.read(tensorsOf(result));
    vm.dispose();
    device.destroy();
    return results;
  }

  function tensorsOf(value: Value): TensorValue[] {
    if (value instanceof TensorValue) return [value];
    if (!(value instanceof AdtValue)) throw new Error('no tensors');
    return value.fields.flatMap(tensorsOf);
  }

  const x = variable('x', 'float32', [2, 2]);
  const input = HostTensor.from('float32', [2, 2], [1, -2, 3, -4]);

  test('returns inputs, constants, views and repeated values', async () => {
    const relu = call('relu', [x]);
    const body = tuple([
      x,
      scalar(5),
      call('reshape', [x], { shape: [4] }),
      relu,
      relu,
      call('add', [relu, x]),
    ]);
    expect((await run([x], body, [input])).map(({ data }) => [...data])).toEqual([
      [1, -2, 3, -4],
      [5],
      [1, -2, 3, -4],
      [1, 0, 3, 0],
      [1, 0, 3, 0],
      [2, -2, 6, -4],
    ]);
  });

  test('an input that nothing reads', async () => {
    const unused = variable('unused', 'float32', [1]);
    const zero = HostTensor.zeros('float32', [1]);
    const [result] = await run([unused, x], call('neg', [x]), [zero, input]);
    expect(result?.data).toEqual(Float32Array.of(-1, 2, -3, 4));
  });

  test('an input of another shape or dtype is refused by name', async () => {
    const body = call('neg', [x]);
    await expect(run([x], body, [HostTensor.zeros('float32', [2, 3])])).rejects.toThrow(/x/);
    await expect(run([x], body, [HostTensor.zeros('int32', [2, 2])])).rejects.toThrow(/x/);
  });

  test('frees everything that it does not return', async () => {
    const device = createHostDevice();
    let body: Expr = x;
    for (let i = 0; i < 20; i++) body = call('softmax', [body], { axis: 1 });
    const vm = await VirtualMachine.create(compile(moduleOf({ main: func([x], body) })), {
      devices: [device],
    });
    const result = await vm.get('main')(input);
    const { liveBytes, peakBytes } = vm.memory();
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(0);
    // One result is left of twenty, and no more than two were ever held beside the input.
    expect(peakBytes).toBeLessThanOrEqual(3 * liveBytes);
    vm.dispose();
    device.destroy();
  });
});
