import { describe, expect, test } from 'vitest';
import { sumAndProduct } from '../worker/testing/test-programs.ts';
import { configureWorker, Session, Tensor } from './index.ts';

const host = { worker: false, device: 'host' } as const;
const x = Tensor.from([1, 2, 3]);

function untyped(value: unknown): never {
  return value as never;
}

describe('options of Session.load', () => {
  const message = (got: string, expected: string) =>
    `Session.load: got ${got}, expected ${expected}.`;
  const names =
    'only device, worker, workerFiles, workerTimeout, signal, onProgress, cache, integrity, externalData, dims, dispatch, devices, compileLimits, check, byteBudget, programKernels, workgroupLimit, instructionLimit, runTimeout, deviceTimeout, pin, priority, threads, compile, precision, limits, functions, gpu, operators, importers, remote';

  test.each<[string, unknown, string]>([
    [
      'a misspelt one',
      { devise: 'host' },
      `${message('an unknown option "devise"', names)} Did you mean device?`,
    ],
    ['__proto__', JSON.parse('{"__proto__": 1}'), message('an unknown option "__proto__"', names)],
    ['toString', { toString: 1 }, message('an unknown option "toString"', names)],
    ['null', null, message('null', 'an object with options')],
    ['text', 'host', message('"host"', 'an object with options')],
    ['a promise', Promise.resolve(host), message('a Promise', 'an object with options')],
    ['a signal', AbortSignal.abort(), message('an AbortSignal', 'an object with options')],
    [
      'functions in a list',
      { functions: [() => 1] },
      message('functions ["a function"]', 'an object'),
    ],
    [
      'a device in capitals',
      { device: 'WebGPU' },
      `${message('device "WebGPU"', '"auto" or "webgpu" or "wasm" or "host"')} Did you mean webgpu?`,
    ],
    [
      'a device that is none',
      { device: 'cuda' },
      message('device "cuda"', '"auto" or "webgpu" or "wasm" or "host"'),
    ],
    [
      'null as device',
      { device: null },
      message('device null', '"auto" or "webgpu" or "wasm" or "host"'),
    ],
    [
      'a worker that is none',
      { worker: 'yes' },
      message('worker "yes"', 'true or false or a function'),
    ],
    [
      'a limit that is none',
      { compileLimits: { works: 1 } },
      'compileLimits: got an unknown option "works", expected only nodes, foldedBytes, work, milliseconds. Did you mean work?',
    ],
    [
      'a remote that is none',
      { remote: {} },
      message('remote {}', 'what connect of weft-vm/rpc gives'),
    ],
    ['a signal that is none', { signal: {} }, message('signal {}', 'an AbortSignal')],
    ['no callback', { onProgress: 1 }, message('onProgress 1', 'a function')],
    [
      'sizes that are none',
      { dims: { batch: -1 } },
      message('dims {"batch":-1}', 'integers from 0 up, by the names of dimensions'),
    ],
    ['a budget of nothing', { byteBudget: 0 }, message('byteBudget 0', 'bytes, above 0')],
    [
      'a policy that is none',
      { programKernels: 'no' },
      message('programKernels "no"', '"allow" or "refuse"'),
    ],
    ['no time', { deviceTimeout: 0 }, message('deviceTimeout 0', 'a number above 0')],
    ['no number', { priority: Number.NaN }, message('priority NaN', 'a number above 0')],
    [
      'a precision that is none',
      { precision: 'half' },
      message('precision "half"', '"full" or "fast"'),
    ],
    ['half a thread', { threads: 1.5 }, message('threads 1.5', 'an integer from 1 to 64')],
    ['a function', { pin: () => true }, message('pin a function', 'true or false')],
    ['a bigint', { byteBudget: 5n }, message('byteBudget 5', 'bytes, above 0')],
    ['what JSON cannot say', { dispatch: untyped(1n) }, message('dispatch 1', 'an object')],
  ])('%s is refused', async (_, options, expected) => {
    const loading = Session.load(sumAndProduct().toBytes(), untyped(options));
    await expect(loading).rejects.toMatchObject({ name: 'UsageError', message: expected });
  });

  test('undefined is as good as absent', async () => {
    const session = await Session.load(sumAndProduct().toBytes(), {
      ...host,
      signal: undefined,
      onProgress: undefined,
    });
    await session.dispose();
  });
});

describe('options of methods', () => {
  test('are refused where they do not exist, and nothing happens to the session', async () => {
    const session = await Session.load(sumAndProduct().toBytes(), host);
    const unknown = (where: string, names: string) =>
      `${where}: got an unknown option "speed", expected only ${names}.`;
    const speed = untyped({ speed: 1 });
    const inputs = { x, y: x };
    const attempts: readonly [() => Promise<unknown>, string][] = [
      [
        () => session.run(inputs, speed),
        unknown('run', 'signal, function, keep, donate, transfer'),
      ],
      [
        () => session.profile(inputs, speed),
        unknown('run', 'signal, function, keep, donate, transfer'),
      ],
      [
        () => session.compare(inputs, speed),
        unknown('compare', 'function, against, tolerance, reduce, signal'),
      ],
      [() => session.trace(inputs, speed), unknown('trace', 'function, values, signal')],
      [() => session.debug(inputs, speed), unknown('debug', 'function, signal')],
      [() => session.warmup({}, speed), unknown('warmup', 'signal')],
      [() => session.pause(speed), unknown('pause', 'at, visit, signal')],
      [
        () => session.pause(untyped({ at: { function: 'main', instruction: '0' } })),
        'pause: got at {"function":"main","instruction":"0"}, expected { function, instruction }.',
      ],
      [() => session.snapshot(speed), unknown('snapshot', 'tensors, note, signal')],
      [() => session.tune(speed), unknown('tune', 'signal, onProgress, dims, idle')],
      [() => session.pauseWhenHidden(speed), unknown('pauseWhenHidden', 'signal')],
      [
        () => session.run(inputs, untyped({ keep: 'gpu' })),
        'run: got keep "gpu", expected "host" or "device" or a list of names.',
      ],
    ];
    for (const [attempt, message] of attempts) {
      await expect(attempt()).rejects.toMatchObject({ name: 'UsageError', message });
    }
    const kept = await session.run(inputs, { keep: 'device' });
    await expect(kept['sum']?.read(speed)).rejects.toThrow(unknown('DeviceTensor.read', 'signal'));
    expect((await kept['sum']?.read())?.toNested()).toEqual([2, 4, 6]);
    await session.dispose();
  });

  test('of configureWorker too', () => {
    expect(() => configureWorker(untyped({ budget: 1 }))).toThrow(
      'configureWorker: got an unknown option "budget", expected only worker, workerFiles, gpu, memoryBudget, idleMs.',
    );
  });
});
