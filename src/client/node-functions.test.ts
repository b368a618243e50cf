import { describe, expect, test } from 'vitest';
import { Executable } from '../bytecode/file/executable-file.ts';
import { compileOnnx, importOnnx, printModule } from '../frontend/index.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { RuntimeError, UnsupportedError, UsageError } from '../core/errors.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { TensorValue } from '../runtime/values/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { createService } from '../worker/create-service.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { type LoadOptions, Session, Tensor } from './index.ts';
import type { SessionNodeFunction } from './session-functions.ts';

const host = { worker: false, device: 'host' } as const;

/** y = Scale(relu(x)) with attributes of all kinds; low, high = Halves(y); kept = Positive(x). */
const MODEL = writeOnnxModel({
  opset: 17,
  opsets: { 'my.domain': 1 },
  inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 4] }],
  nodes: [
    { op: 'Relu', inputs: ['x'], outputs: ['r'] },
    {
      op: 'Scale',
      name: 'scale',
      domain: 'my.domain',
      inputs: ['r', ''],
      outputs: ['y'],
      attributes: {
        by: { float: 2.5 },
        times: 2,
        names: { strings: ['a', 'b'] },
        axes: [0, -1],
        weights: { floats: [0.5, Infinity] },
        mode: 'sum',
        bias: HostTensor.from('float32', [2], [1, -1]),
      },
    },
    { op: 'Halves', name: 'halves', domain: 'my.domain', inputs: ['y'], outputs: ['low', 'high'] },
    { op: 'Positive', name: 'positive', domain: 'my.domain', inputs: ['x'], outputs: ['kept'] },
    { op: 'Neg', inputs: ['kept'], outputs: ['negative'] },
  ],
  outputs: ['y', 'low', 'high', 'negative'],
});

const numbers = (tensor: unknown): number[] =>
  tensor instanceof Tensor ? Array.from(tensor.data, Number) : [];

type Seen = { inputs: unknown; attributes: unknown; asked: string[] };

function functions(seen: Partial<Seen> = {}): Record<string, SessionNodeFunction> {
  const asked: string[] = [];
  seen.asked = asked;
  return {
    'my.domain::Scale': {
      type: ({ where, inputs, attributes }) => {
        asked.push(`${where} ${inputs[0]?.shape.join()} ${Number(attributes['by'])}`);
        return { dtype: 'float32', shape: inputs[0]?.shape ?? [] };
      },
      run: ([x, absent], attributes) => {
        seen.inputs = [x?.shape, absent];
        seen.attributes = { ...attributes, bias: numbers(attributes['bias']) };
        const by = Number(attributes['by']);
        return new Tensor(
          'float32',
          Float32Array.from(numbers(x), (v) => v * by),
          x?.shape ?? [],
        );
      },
    },
    'my.domain::Halves': {
      type: 'fn (Tensor[(n, m), float32]) -> (Tensor[(n, 2), float32], Tensor[(n, m), float32])',
      run: async ([x]) => {
        await Promise.resolve();
        const rows = x?.shape[0] ?? 0;
        const low = numbers(x).filter((_, i) => i % 4 < 2);
        return [new Tensor('float32', Float32Array.from(low), [rows, 2]), x];
      },
    },
    'my.domain::Positive': {
      type: ({ inputs }) => [`Tensor[(?,), ${inputs[0]?.dtype}]`],
      run: ([x]) => Tensor.from(numbers(x).filter((v) => v > 0)),
    },
  };
}

const X = new Tensor('float32', Float32Array.of(1, -2, 3, 4, 5, 6, -7, 8), [2, 4]);
const EXPECTED = {
  y: [2.5, 0, 7.5, 10, 12.5, 15, 0, 20],
  low: [2.5, 0, 12.5, 15],
  high: [2.5, 0, 7.5, 10, 12.5, 15, 0, 20],
  negative: [-1, -3, -4, -5, -6, -8],
};

async function results(source: Uint8Array, options: LoadOptions): Promise<unknown> {
  const session = await Session.load(source, { ...host, ...options });
  const outputs = await session.run({ x: X });
  await session.dispose();
  return Object.fromEntries(Object.entries(outputs).map(([name, y]) => [name, numbers(y)]));
}

test('nodes of other domains call functions of the page', async () => {
  const seen: Partial<Seen> = {};
  expect(await results(MODEL, { functions: functions(seen) })).toEqual(EXPECTED);
  expect(seen.asked).toEqual(['node "scale" (my.domain.Scale) n,4 2.5']);
  expect(seen.inputs).toEqual([[2, 4], undefined]);
  expect(seen.attributes).toEqual({
    by: 2.5,
    times: 2,
    names: ['a', 'b'],
    axes: [0, -1],
    weights: [0.5, Infinity],
    mode: 'sum',
    bias: [1, -1],
  });
});

test('also with dimensions that are bound, clones for sizes, and a larger model’s compiler', async () => {
  expect(await results(MODEL, { functions: functions(), dims: { n: 2 } })).toEqual(EXPECTED);
  const dispatch = {
    main: {
      x: {
        0: [
          [1, 2],
          [2, 9],
        ],
      },
    },
  } as const;
  expect(await results(MODEL, { functions: functions(), dispatch })).toEqual(EXPECTED);
  const compileLimits = { nodes: 1e6 };
  expect(await results(MODEL, { functions: functions(), compileLimits })).toEqual(EXPECTED);
});

test('an executable needs the functions without their types', async () => {
  const types = {
    'my.domain::Scale': { type: 'fn (Tensor[(n, m), float32]) -> Tensor[(n, m), float32]' },
    'my.domain::Halves': { type: functions()['my.domain::Halves']?.type as string },
    'my.domain::Positive': { type: 'fn (Tensor[(n, m), float32]) -> Tensor[(k,), float32]' },
  };
  const module = importOnnx(MODEL, { functions: types });
  expect(printModule(module)).toContain(
    'call_packed<(Tensor[(n, 2), float32], Tensor[(n, 4), float32])>',
  );
  const executable = compileOnnx(MODEL, { functions: types });
  const bytes = Executable.fromText(executable.toText()).toBytes();
  const given = Object.entries(functions()).map(([name, { run }]) => [name, { run }]);
  expect(await results(bytes, { functions: Object.fromEntries(given) })).toEqual(EXPECTED);
  await expect(Session.load(bytes, { ...host, functions: {} })).rejects.toThrow(
    'linking: got no function for node "scale" (my.domain.Scale), node "halves" (my.domain.Halves), node "positive" (my.domain.Positive), expected functions that compute my.domain::Halves, my.domain::Positive, my.domain::Scale. Pass functions: { \'my.domain::Halves\': { run }, \'my.domain::Positive\': { run }, \'my.domain::Scale\': { run } }.',
  );
});

test('machines and workers of one’s own have functions of the machine', async () => {
  const nodes = {
    'my.domain::Twice': {
      type: 'fn (Tensor[(n,), float32]) -> Tensor[(n,), float32]',
      run: async ([x]: readonly unknown[]) => {
        const [tensor] = x instanceof TensorValue ? await vm.read([x]) : [];
        const data = [...(tensor?.data ?? [])].map((v) => Number(v) * 2);
        return HostTensor.from('float32', [data.length], data);
      },
    },
  };
  const model = twice('Twice');
  const vm: VirtualMachine = await VirtualMachine.create(compileOnnx(model, { functions: nodes }), {
    devices: [createHostDevice()],
    functions: nodes,
  });
  const result = await vm.invoke('main', [HostTensor.from('float32', [2], [3, 4])]);
  const [y] = result instanceof TensorValue ? await vm.read([result]) : [];
  expect([...(y?.data ?? [])]).toEqual([12, 16]);
  const service = createService({ functions: nodes });
  const source = { kind: 'bytes', bytes: model } as const;
  const reply = await service.load(1, { source, device: 'host', dims: {} }, undefined);
  expect(reply).toMatchObject({ ok: true });
  if (reply.ok) await service.dispose(2, reply.value.session);
});

function twice(op: string): Uint8Array {
  return writeOnnxModel({
    opset: 17,
    opsets: { 'my.domain': 1 },
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n'] }],
    nodes: [
      { op, name: 'first', domain: 'my.domain', inputs: ['x'], outputs: ['a'] },
      { op, name: 'second', domain: 'my.domain', inputs: ['a'], outputs: ['y'] },
    ],
    outputs: ['y'],
  });
}

describe('what does not fit', () => {
  const load = (type: SessionNodeFunction['type'], run: SessionNodeFunction['run'] = ([x]) => x) =>
    Session.load(twice('Op'), { ...host, functions: { 'my.domain::Op': { type, run } } });

  test('nodes without a function are in one error', async () => {
    const loading = Session.load(twice('Op'), { ...host, functions: functions() });
    await expect(loading).rejects.toBeInstanceOf(UnsupportedError);
    await expect(loading).rejects.toThrow(
      'got 2 nodes of an unsupported operator (my.domain.Op), expected operators that Weft has:\n  node "first" (my.domain.Op)\n  node "second" (my.domain.Op)',
    );
  });

  test.each<[string, SessionNodeFunction['type'], string]>([
    ['no type', undefined, 'functions, my.domain::Op: got no type, expected a type, by which'],
    ['a type that is none', 'Tensor', 'functions, my.domain::Op: got "Tensor", expected Tensor[('],
    [
      'another rank',
      'fn (Tensor[(n, m), float32]) -> Tensor[(n,), float32]',
      'node "first" (my.domain.Op): got Tensor[(n,), float32] as input 0, expected Tensor[(n, m), float32]',
    ],
    [
      'too few outputs',
      () => [],
      'node "first" (my.domain.Op): got a function my.domain::Op of 0 outputs, expected 1',
    ],
    [
      'another dtype for the second',
      'fn (Tensor[(n,), float32]) -> Tensor[(n,), int32]',
      'node "second" (my.domain.Op): got Tensor[(n,), int32] as input 0, expected Tensor[(n,), float32].',
    ],
  ])('%s', async (_, type, message) => {
    await expect(load(type)).rejects.toThrow(message);
  });

  test('errors of the function that tells types, and of the one that runs', async () => {
    const type = () => {
      throw new RangeError('no such mode');
    };
    await expect(load(type)).rejects.toThrow('no such mode');
    const session = await load('fn (Tensor[(n,), float32]) -> Tensor[(n,), float32]', type);
    await expect(session.run({ x: Tensor.from([1]) })).rejects.toThrow('no such mode');
    await session.dispose();
  });

  test('results are checked at the border', async () => {
    const session = await load('fn (Tensor[(n,), float32]) -> Tensor[(n,), float32]', () =>
      Tensor.from([1, 2, 3]),
    );
    const running = session.run({ x: Tensor.from([1, 2]) });
    await expect(running).rejects.toBeInstanceOf(RuntimeError);
    await expect(running).rejects.toThrow(
      'node "first": result of my.domain::Op: got float32 tensor (3,), expected Tensor[(n,), float32] where n is 2.',
    );
    await session.dispose();
  });

  test('functions of operators that Weft reads, without a domain, and what is no function', async () => {
    const fn = { type: 'fn (Tensor[(n,), float32]) -> Tensor[(n,), float32]', run: () => 0 };
    const refused = (given: object) =>
      expect(Session.load(twice('Op'), { ...host, functions: given as never })).rejects;
    await refused({ 'ai.onnx::Relu': fn }).toThrow(
      'functions, ai.onnx::Relu: got an operator that Weft or an importer reads',
    );
    await refused({ Op: fn }).toThrow('functions, Op: got no domain');
    await refused({ 'my.domain::Op': { type: 3, run: () => 0 } }).toBeInstanceOf(UsageError);
  });
});
