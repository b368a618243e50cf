import { afterEach, describe, expect, test } from 'vitest';
import { tensorOf } from '../../bytecode/constant-tensor.ts';
import type { Executable } from '../../bytecode/file/executable-file.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { compile, parseModule } from '../../frontend/index.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { createDevice } from '../../worker/index.ts';
import { compareRuns, type RunComparison } from './compare-runs.ts';
import { programRun } from './machine-run.ts';
import { programInMemory, widenedDTypes, widenProgram, widenTensor } from './widen-program.ts';

const devices: Device[] = [];
afterEach(() => {
  for (const device of devices.splice(0)) device.destroy();
});

async function open(kind: 'host' | 'wasm' | 'webgpu'): Promise<Device> {
  const device = await createDevice(kind, kind === 'webgpu' ? await sharedNodeGpu() : undefined);
  devices.push(device);
  return device;
}

function constantsOf({ constants, data }: Executable): ReadonlyMap<number, HostTensor> {
  const tensors = [...constants.entries()].flatMap(([index, constant]) =>
    constant.kind === 'tensor' ? [[index, tensorOf(constant, data)] as const] : [],
  );
  return new Map(tensors);
}

interface Comparing {
  readonly kind?: 'host' | 'wasm' | 'webgpu';
  readonly tolerance?: number;
  readonly without?: readonly ['fuse'];
}

/** The program as it is, beside the same one in float32 on the host. */
async function compareWide(
  text: string,
  args: readonly HostTensor[],
  { kind = 'host', tolerance = 0.01, without = [] as never }: Comparing = {},
): Promise<RunComparison> {
  const executable = compile(parseModule(text, { file: 'text.ir' }), { without });
  const constants = constantsOf(executable);
  return compareRuns(
    'main',
    {
      program: executable,
      tested: programRun({
        program: programInMemory(executable, constants),
        options: { devices: [await open(kind), createHostDevice()] },
        args,
      }),
      expected: programRun({
        program: widenProgram(executable, constants),
        options: { devices: [createHostDevice()], widened: widenedDTypes(executable) },
        args: args.map((arg) => widenTensor(arg)),
      }),
    },
    { tolerance },
  );
}

const half = (shape: readonly number[], values: readonly number[]): HostTensor =>
  HostTensor.from('float16', shape, values.map(numberToFloat16));

const X = half([4], [1, 20, 300, 400]);

describe.each(['host', 'wasm', 'webgpu'] as const)('on %s', (kind) => {
  test('a product that overflows is named, with its line', async () => {
    const text = `def @main(%x: Tensor[(4,), float16]) {
  let %a = softmax(%x, axis=0);
  let %b = mul(%x, add(%x, 1f16));
  (add(%a, 1f16), neg(%b))
}`;
    const { departure, calls, largestError } = await compareWide(text, [X], { kind });
    expect(departure).toMatchObject({
      got: Number.NEGATIVE_INFINITY,
      expected: -90_300,
      relativeError: Number.POSITIVE_INFINITY,
      dtype: 'float16',
    });
    expect(departure?.sources.join()).toContain('text.ir:3');
    expect(departure?.at?.function).toBe('main');
    expect(calls).toBeGreaterThan(0);
    expect(largestError).toBe(Number.POSITIVE_INFINITY);
  });

  test('what keeps within float16 is compared to the end', async () => {
    const text = `def @main(%x: Tensor[(4,), float16]) {
      let %a = softmax(mul(%x, 0.01f16), axis=0);
      layer_norm(add(%a, %x))
    }`;
    const { departure, calls, largestError } = await compareWide(text, [X], { kind });
    expect(departure).toBe(undefined);
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(largestError).toBeGreaterThan(0);
    expect(largestError).toBeLessThan(0.002);
  });
});

test('parts of one tensor that are written side by side', async () => {
  const text = `def @main(%x: Tensor[(1, 8, 4, 4), float16]) {
    let %a = max_pool(%x, kernel=[1, 1]);
    let %b = avg_pool(%x, kernel=[1, 1]);
    let %c = concat(%a, %b, axis=1);
    (layer_norm(%c), softmax(%c, axis=1))
  }`;
  const x = half(
    [1, 8, 4, 4],
    Array.from({ length: 128 }, (_, i) => Math.sin(i)),
  );
  const { departure, calls } = await compareWide(text, [x]);
  expect(departure).toBe(undefined);
  expect(calls).toBeGreaterThanOrEqual(4);
});

test('loops, constants and offsets in storages', async () => {
  const text = `def @loop(%x: Tensor[(2, 300), float16], %i: int) -> Tensor[(2, 300), float16] {
    if (int_lt(%i, #4)) {
      let %e = exp(%x);
      @loop(add(softmax(%e, axis=1), mul(reduce_sum(%x, axes=[1], keepdims=true), 0.001f16)), int_add(%i, #1))
    } else { %x }
  }
  def @main(%x: Tensor[(2, 300), float16]) { @loop(%x, #0) }`;
  const x = half(
    [2, 300],
    Array.from({ length: 600 }, (_, i) => Math.sin(i)),
  );
  const { departure, calls } = await compareWide(text, [x], { without: ['fuse'] });
  expect(departure).toBe(undefined);
  expect(calls).toBeGreaterThanOrEqual(12);
});

test('a value that decides the way', async () => {
  const program = (
    threshold: number,
  ) => `def @main(%x: Tensor[(), float16]) -> Tensor[(), float16] {
    if (greater(cast(mul(%x, add(%x, 1f16)), to="float32"), ${threshold}f)) { exp(neg(%x)) } else { %x }
  }`;
  // 250 times 251 is 62,750, and 62,752 in float16.
  const compare = (threshold: number) =>
    compareWide(program(threshold), [half([], [250])], { tolerance: 0.1, without: ['fuse'] });
  await expect(compare(62_000)).resolves.toMatchObject({ departure: undefined });
  await expect(compare(62_751)).resolves.toMatchObject({
    departure: { kernel: 'greater', dtype: 'bool', got: 1, expected: 0, sources: ['text.ir:2:9'] },
  });
});

test('errors of the program come out', async () => {
  const text = `def @main(%x: Tensor[(4,), float16]) { stop("enough"); relu(%x) }`;
  await expect(compareWide(text, [X])).rejects.toThrow('enough');
});

test('functions of JavaScript that lead the runs apart', async () => {
  const text = `extern def @"my.size"() -> int
  def @main(%x: Tensor[(4,), float16]) -> Tensor[(4,), float16] {
    if (int_lt(@"my.size"(), #1)) { exp(neg(%x)) } else { relu(%x) }
  }`;
  const executable = compile(parseModule(text));
  const program = programInMemory(executable, constantsOf(executable));
  const runOf = (size: number) =>
    programRun({
      program,
      options: { devices: [createHostDevice()], functions: { 'my.size': () => size } },
      args: [X],
    });
  const compared = compareRuns(
    'main',
    { program, tested: runOf(0), expected: runOf(1) },
    { tolerance: 1 },
  );
  await expect(compared).rejects.toThrow('got a call in one of two runs');
});
