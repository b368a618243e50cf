import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { DTypeValue, FloatValue, ShapeValue } from '../runtime/values/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { TestDevice } from '../runtime/testing/test-device.ts';
import { LimitError } from './errors.ts';
import { linkRemote } from './values/machine-values.ts';
import { decodeValues, encodeValues, type HandleNames } from './values/wire-values.ts';
import { type RemoteFunction, RemoteTensor } from './values/remote-handles.ts';
import { type RpcFunction, RpcTuple, type RpcValue } from './values/rpc-value.ts';
import { LOCAL_ADD, openConnection, testProgram } from './testing/open-connection.ts';

const functions = { 'local.add': LOCAL_ADD };

async function loaded(...options: Parameters<typeof openConnection>) {
  const connection = await openConnection(...options);
  const module = await connection.remote.load(testProgram(), { functions });
  const get = (name: string): Promise<RemoteFunction> => module.getFunction(name);
  return { ...connection, module, get };
}

const vector = (...elements: number[]): HostTensor =>
  HostTensor.from('float32', [elements.length], elements);

/** Runs what waits, a few rounds of messages and of finalizers included. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve));
}

describe('values', () => {
  test.each<[string, RpcValue]>([
    ['null', null],
    ['an int', -7],
    ['a large int', Number.MAX_SAFE_INTEGER],
    ['a string', 'Grüße, 你好'],
    ['a float', new FloatValue(1.5)],
    ['a float without fraction', new FloatValue(3)],
    ['a negative zero', new FloatValue(-0)],
    ['an infinity', new FloatValue(Number.NEGATIVE_INFINITY)],
    ['a shape', new ShapeValue([2, 0, 5])],
    ['a dtype', new DTypeValue('float16')],
    ['a tensor', HostTensor.from('int64', [2, 2], [1n, -2n, 3n, 1n << 60n])],
    ['an empty tensor', HostTensor.zeros('float32', [0, 3])],
    ['a scalar', HostTensor.from('float32', [], [2.5])],
    ['a tuple', new RpcTuple([1, new RpcTuple([], 3), 'x', vector(1, 2)])],
  ])('%s goes there and comes back', async (_, value) => {
    const { get, remote } = await loaded();
    const same = await get('same');
    expect(await same(value)).toEqual(value);
    remote.close();
  });

  test('a number that is no int is a float, an array a tuple, true 1', async () => {
    const { get } = await loaded();
    const same = await get('same');
    expect(await same([0.5, true, undefined])).toEqual(
      new RpcTuple([new FloatValue(0.5), 1, null]),
    );
  });

  test('a list of 20,000 cells is no recursion', async () => {
    const { get } = await loaded();
    let list: RpcValue = null;
    for (let i = 0; i < 20_000; i++) list = new RpcTuple([i, list], 1);
    let rest = await (await get('same'))(list);
    let sum = 0;
    while (rest instanceof RpcTuple) {
      sum += Number(rest.fields[0]);
      rest = rest.fields[1] ?? null;
    }
    expect(sum).toBe((20_000 * 19_999) / 2);
  });

  test('a tensor stays on the remote, is used there, read and released', async () => {
    const { get, remote, device } = await loaded();
    const copy = await get('copy');
    const kept = await copy.invoke([vector(1, 2, 3)], { keep: 'device' });
    if (!(kept instanceof RemoteTensor)) throw new Error('internal: no handle');
    expect([kept.dtype, kept.shape]).toEqual(['float32', [3]]);
    const again = await copy.invoke([kept], { keep: 'host' });
    expect(again).toEqual(vector(1, 2, 3));
    expect(await kept.read()).toEqual(vector(1, 2, 3));
    const held = remote.counters().handlesHeldByPeer;
    kept.release();
    kept.release();
    expect(remote.counters().handlesHeldByPeer).toBe(held - 1);
    await expect(kept.read()).rejects.toThrow('a remote tensor, which was released');
    await settle();
    const { buffersCreated } = device.counters();
    // The memory serves again.
    expect(await copy(vector(4, 5, 6))).toEqual(vector(4, 5, 6));
    expect(device.counters().buffersCreated).toBe(buffersCreated);
  });

  test('a closure of the remote is a function, comes back as itself and is released', async () => {
    const { get, module, remote } = await loaded();
    const make = await get('make');
    const closure = await make(vector(4));
    if (typeof closure !== 'function') throw new Error('internal: no function');
    expect(await closure(0)).toEqual(vector(4));
    expect(await (await get('twice'))(closure, 0)).toEqual(vector(4));
    (closure as RemoteFunction).release();
    await expect(closure(0)).rejects.toThrow('which was released');
    module.release();
    await expect(make(vector(4))).rejects.toThrow('disposed of');
    remote.close();
  });
});

test('plain data of methods crosses as it is, and undefined as nothing', () => {
  const names = {} as HandleNames;
  const there = (...data: readonly unknown[]) => {
    const { blobs, ...nodes } = encodeValues(data, names);
    return decodeValues(nodes, blobs, { names, maxBytes: 1000 });
  };
  const shared = { at: [1, { x: -0 }] };
  const data = {
    numbers: [1, 0.5, -0, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 60],
    flags: [true, false, null],
    texts: { '': 'Grüße', constructor: 'x', length: '' },
    arrays: [
      Float64Array.of(1.5),
      Uint8ClampedArray.of(7),
      BigInt64Array.of(-1n),
      new Int8Array(0),
    ],
    tensor: vector(1, 2),
    both: [shared, shared],
    empty: [[], {}],
  };
  expect(there(data, [data])).toStrictEqual([data, [data]]);
  expect(there({ a: undefined, b: [undefined] })).toStrictEqual([{ b: [null] }]);
  const [{ both }] = there(data) as [typeof data];
  expect(both[0]).not.toBe(both[1]);
  let deep: unknown = 0;
  for (let i = 0; i < 20_000; i++) deep = [deep];
  let [rest] = there(deep);
  for (let i = 0; i < 20_000; i++) rest = (rest as unknown[])[0];
  expect(rest).toBe(0);
  const endless: unknown[] = [];
  endless.push(endless);
  expect(() => there(endless)).toThrow(LimitError);
  expect(() => there(new Map())).toThrow('got a Map, expected a number');
  expect(() => there(new Uint8Array(1001))).toThrow('more bytes of tensors than the limit');
});

describe('local functions', () => {
  test('are called back by the remote, with tensors by value', async () => {
    const { get } = await loaded();
    const double: RpcFunction = (x) => LOCAL_ADD(x ?? null, x ?? null);
    expect(await (await get('twice'))(double, vector(1, 2))).toEqual(vector(4, 8));
  });

  test('are called by name', async () => {
    const { get } = await loaded();
    expect(await (await get('outer'))(vector(1, 2))).toEqual(vector(2, 4));
  });

  test('may call the remote in turn, ten levels deep', async () => {
    const { get, remote } = await loaded();
    const same = await get('same');
    const twice = await get('twice');
    let calls = 0;
    const nest =
      (depth: number): RpcFunction =>
      async (x) => {
        calls++;
        if (depth === 0) return same(x ?? null);
        return twice(nest(depth - 1), x ?? null);
      };
    expect(await twice(nest(4), 'deep')).toBe('deep');
    expect(calls).toBe(2 + 4 + 8 + 16 + 32);
    expect(remote.counters()).toMatchObject({ callsPending: 0, callsActive: 0 });
  });

  test('that are passed often are held once, and no more when they are revoked', async () => {
    const { get, remote } = await loaded();
    const twice = await get('twice');
    const before = remote.counters().handlesHeldForPeer;
    const plus: RpcFunction = (x) => Number(x) + 1;
    for (let i = 0; i < 50; i++) expect(await twice(plus, i)).toBe(i + 2);
    expect(remote.counters().handlesHeldForPeer).toBe(before + 1);
    remote.revoke(plus);
    expect(remote.counters().handlesHeldForPeer).toBe(before);
  });

  test('offered ones are called by name, others are not there', async () => {
    const { remote } = await openConnection({
      offer: { greet: (name) => `hello ${name as string}` },
    });
    const greet = await remote.getFunction('greet');
    expect(await greet('you')).toBe('hello you');
    await expect(remote.getFunction('toString')).rejects.toThrow(
      'got the function name "toString", expected one that is offered (greet)',
    );
  });
});

describe('errors', () => {
  test('cross with type, VM stack and the name of the remote', async () => {
    const { get } = await loaded();
    const fail = await get('fail');
    const error = await fail().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'RuntimeError', details: { remote: 'desk' } });
    const { message } = error as Error;
    expect(message).toContain('no way');
    expect(message).toContain('at fail, instruction 0');
    expect(message).toContain('on desk');
  });

  test('of a local function come back through the remote', async () => {
    const { get } = await loaded();
    const broken: RpcFunction = () => {
      throw new RangeError('out of luck');
    };
    await expect((await get('twice'))(broken, 1)).rejects.toMatchObject({
      name: 'RuntimeError',
      message: expect.stringContaining('out of luck'),
    });
  });

  test('name a function that the executable lacks, and missing packed functions', async () => {
    const { get, remote } = await loaded();
    await expect(get('nothing')).rejects.toThrow('the function name "nothing"');
    await expect(remote.load(testProgram())).rejects.toThrow('local.add');
  });

  test('of a value that cannot be sent are thrown here, and nothing is held', async () => {
    const { get, remote } = await loaded();
    const same = await get('same');
    const before = remote.counters().handlesHeldForPeer;
    const date = new Date() as unknown as RpcValue;
    await expect(same([LOCAL_ADD, date])).rejects.toThrow('got a Date, expected a number');
    expect(remote.counters().handlesHeldForPeer).toBe(before);
  });
});

describe('abort', () => {
  test('rejects at once and cancels the program on the remote', async () => {
    const { get, remote } = await loaded();
    const twice = await get('twice');
    const controller = new AbortController();
    let calls = 0;
    const stuck: RpcFunction = () => {
      calls++;
      controller.abort();
      return calls;
    };
    const running = twice.invoke([stuck, 1], { signal: controller.signal });
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await settle();
    expect(calls).toBe(1);
    expect(remote.counters()).toMatchObject({ callsPending: 0, callsActive: 0 });
  });

  test('of a body under way gives the rest up', async () => {
    const { get, remote, clientEnd, served } = await loaded();
    const same = await get('same');
    const controller = new AbortController();
    const resume = clientEnd.hold();
    const big = HostTensor.zeros('uint8', [100_000]);
    const running = same.invoke([big], { signal: controller.signal });
    await settle();
    expect(remote.counters().bodiesWaiting).toBe(1);
    controller.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(remote.counters()).toMatchObject({ bodiesWaiting: 0, callsPending: 0 });
    resume();
    expect(await same('next')).toBe('next');
    remote.close();
    expect(await served.closed).toMatchObject({ name: 'RemoteLostError' });
  });
});

describe('shipping', () => {
  test('an executable goes once, in pieces, with progress', async () => {
    const { remote, clientEnd } = await openConnection();
    const program = testProgram();
    const total = program.toBytes().byteLength;
    const progress: number[] = [];
    const onProgress = ({ loaded: bytes }: { loaded: number }): void => void progress.push(bytes);
    await remote.load(program, { functions, onProgress });
    expect(progress.at(-1)).toBe(total);
    expect(progress.length).toBe(Math.ceil(total / clientEnd.pieceByteLength));
    const before = clientEnd.sent.length;
    await remote.load(program, { functions });
    const bodies = clientEnd.sent.slice(before).filter(({ body }) => body !== undefined);
    expect(bodies).toEqual([]);
  });

  test('10 MB pass through a window of 8 KB in pieces of 1 KB', async () => {
    const { remote, clientEnd, served } = await openConnection({
      offer: { size: (x) => (x instanceof HostTensor ? x.byteLength : 0) },
    });
    const size = await remote.getFunction('size');
    expect(await size(HostTensor.zeros('uint8', [10_000_000]))).toBe(10_000_000);
    const sizes = clientEnd.sent.map(({ body }) => body?.byteLength ?? 0);
    expect(Math.max(...sizes)).toBe(clientEnd.pieceByteLength);
    served.close();
  });

  test('bytes that are no executable are refused', async () => {
    const { remote } = await openConnection();
    await expect(remote.load(Uint8Array.of(1, 2, 3))).rejects.toMatchObject({
      name: 'FormatError',
    });
  });
});

test('timeEvaluator measures on the remote', async () => {
  const { remote, get } = await loaded();
  const evaluate = remote.timeEvaluator(await get('copy'), { number: 5, repeat: 4 });
  const result = await evaluate(vector(1, 2));
  expect(result.results).toHaveLength(4);
  expect(result.number).toBe(5);
  expect(Math.min(...result.results)).toBeLessThanOrEqual(result.median);
  expect(result.mean).toBeGreaterThan(0);
  const failing = remote.timeEvaluator(await get('fail'));
  await expect(failing()).rejects.toThrow('no way');
  expect(() => remote.timeEvaluator(LOCAL_ADD as RemoteFunction, { repeat: 0 })).toThrow('repeat');
});

test('a program calls a function that lives on another device', async () => {
  const { get, device } = await loaded();
  const near = new TestDevice({ name: 'near' });
  const copy = await get('copy');
  const far: RpcFunction = async (a, b) => [await copy(a ?? null), b ?? null];
  const vm = await VirtualMachine.create(testProgram(), {
    devices: [near],
    functions: { 'local.add': linkRemote(far) },
  });
  const before = device.counters().buffersCreated;
  const result = await vm.invoke('outer', [vector(5)]);
  expect(device.counters().buffersCreated).toBeGreaterThan(before);
  vm.release(result);
  expect(vm.memory().liveBytes).toBe(0);
});
