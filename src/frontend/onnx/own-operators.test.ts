import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import type { Executable } from '../../compiler/compile.ts';
import { coreOperators } from '../../ops/tables/core-operators.ts';
import { Operators } from '../../ops/operators.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { createDevice } from '../../worker/create-service.ts';
import { compileOnnx } from './compile-onnx.ts';
import type { Importers } from './importers.ts';
import { ownModel, RESULTS, X } from './testing/own-model.ts';
import { decay, importers, operators, shrink, squareplus } from './testing/own-operators.ts';

const compiled = (bytes: Uint8Array) => compileOnnx(bytes, { operators, importers });

async function run(devices: readonly Device[], executable: Executable): Promise<number[]> {
  const vm = await VirtualMachine.create(executable, { devices });
  const x = HostTensor.from('float32', [2, 4], X);
  const result = await vm.get('main')(vm.tensor(x));
  const [y] = await vm.read(result instanceof TensorValue ? [result] : []);
  vm.dispose();
  return Array.from(y?.data ?? [], Number);
}

test('an importer may make constants with another copy of HostTensor', async () => {
  const one = { dtype: 'float32', shape: [], elements: Float32Array.of(1), isSplat: true };
  const adding: Importers = {
    'com.example': {
      Squareplus: {
        since: 1,
        makes: 'add',
        import: (node) => node.call('add', [node.input(0), node.constant(one as never)]),
      },
    },
  };
  const device = await createDevice('host');
  const program = compileOnnx(ownModel('Squareplus'), { importers: adding });
  expect(await run([device], program)).toEqual(X.map((x) => x + 1));
  device.destroy();
});

describe.each(['host', 'webgpu'] as const)('on %s', (kind) => {
  let own: Device;
  let core: Device;
  let host: Device;
  beforeAll(async () => {
    const gpu = kind === 'webgpu' ? await sharedNodeGpu() : undefined;
    own = await createDevice(kind, gpu, { operators });
    core = await createDevice(kind, gpu);
    host = await createDevice('host');
  });
  afterAll(() => {
    for (const device of [own, core, host]) device.destroy();
  });

  test.each([
    ['Squareplus', RESULTS.Squareplus],
    ['Decay', RESULTS.Decay],
    ['Shrink', RESULTS.Shrink],
  ])('%s of an own domain', async (node, expected) => {
    const actual = await run([own], compiled(ownModel(node)));
    for (const [i, value] of expected.entries()) expect(actual[i]).toBeCloseTo(value, 4);
  });

  test('core operators are fused with those of a table', async () => {
    const fused = compileOnnx(ownModel('Neg', 'Squareplus', 'Neg'), { operators, importers });
    expect(fused.primitives.map(({ body }) => body.map(({ op }) => op))).toEqual([
      ['neg', 'squareplus', 'neg'],
    ]);
    const negated = await run([own], compiled(ownModel('Neg', 'Squareplus')));
    const expected = X.map((x) => 0.5 * (-x + Math.sqrt(x * x + 4)));
    for (const [i, value] of expected.entries()) expect(negated[i]).toBeCloseTo(value, 4);
  });

  test('a composition runs on devices that do not know it', async () => {
    expect(await run([core], compiled(ownModel('Shrink')))).toEqual(RESULTS.Shrink);
  });

  test('a missing operator is named at load', async () => {
    const loading = run(kind === 'host' ? [core] : [core, host], compiled(ownModel('Decay')));
    const error: unknown = await loading.catch((thrown: unknown) => thrown);
    expect(String(error).split('\n').slice(1)).toEqual([
      expect.stringMatching(/^  decay.*: got operator decay, expected one that the device has$/),
      'Pass the missing operators to createDevice, or to serve in a worker of your own.',
    ]);
  });
});

describe('what does not fit is named when it is compiled', () => {
  test('an operator that an importer makes and the table lacks', () => {
    expect(() => compileOnnx(ownModel('Decay'), { importers })).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: importer of com.example.Squareplus: got operator squareplus, which it makes, expected operators of the table. Pass it: operators: new Operators([...coreOperators, mine]).]`,
    );
  });

  test('an importer that Weft has', () => {
    const again: Importers = { '': { Neg: { since: 1, makes: 'neg', import: () => [] } } };
    expect(() =>
      compileOnnx(ownModel('Neg'), { importers: again }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: importer of Neg: got a second one, expected operators that Weft lacks.]`,
    );
  });

  test('a table without the core operators', () => {
    const few = new Operators([decay]);
    expect(() =>
      compileOnnx(ownModel('Neg'), { operators: few }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: operator abs: got a table without it, expected all core operators, unchanged. Pass new Operators([...coreOperators, mine]), and give yours other names.]`,
    );
  });

  test('a composition that is no expression', () => {
    const wrong = new Operators([
      ...coreOperators,
      squareplus,
      decay,
      { ...shrink, composition: () => 'minimum(%y, %x)' },
    ]);
    expect(() =>
      compileOnnx(ownModel('Shrink'), { operators: wrong, importers }),
    ).toThrowErrorMatchingInlineSnapshot(`
      [UnsupportedError: node "v1": composition of shrink_to:1:9: got "%y", expected a variable that is in scope.
      1 | minimum(%y, %x)
        |         ^]
    `);
  });

  test('a composition of another type', () => {
    const wrong = new Operators([
      ...coreOperators,
      squareplus,
      decay,
      { ...shrink, composition: () => 'cast(%x, to="int32")' },
    ]);
    expect(() =>
      compileOnnx(ownModel('Shrink'), { operators: wrong, importers }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[TypeCheckError: node "v1", let %shrink_to: got Tensor[(n, 4), int32], expected Tensor[(n, 4), float32]. Insert a cast.]`,
    );
  });

  test('a composition that comes back to itself', () => {
    const wrong = new Operators([
      ...coreOperators,
      squareplus,
      decay,
      { ...shrink, composition: () => 'shrink_to(%x, limit=1)' },
    ]);
    expect(() =>
      compileOnnx(ownModel('Shrink'), { operators: wrong, importers }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: operator shrink_to: got compositions within compositions, more than 16 deep, expected one that does not come back to itself.]`,
    );
  });
});
