import { describe, expect, test } from 'vitest';
import { ExecBuilder, type FunctionBuilder } from '../../bytecode/index.ts';
import type { OperandLike } from '../../bytecode/build/function-builder.ts';
import { Deferred } from '../../core/async/deferred.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { macrotask } from '../../core/async/macrotask.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import type { CallId, SessionId } from '../protocol/reply.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import type { WireValue } from '../protocol/wire-value.ts';
import { pooledDevices } from '../devices/pooled-devices.ts';
import { SessionHost } from './session-host.ts';

type Body = (f: FunctionBuilder, b: ExecBuilder) => OperandLike;

/** Functions of one parameter that end in all the ways there are. */
const FUNCTIONS = {
  returns: (f) => f.call('vm.builtin.copy', [f.param('x')]),
  returnsItsInput: (f) => f.call('vm.builtin.make_tuple', [f.param('x'), f.param('x')]),
  returnsAConstant: (_, b) => b.tensor(HostTensor.zeros('float32', [100])),
  drops: (f) => {
    f.call('vm.builtin.copy', [f.param('x')]);
    return 0;
  },
  fails: (f, b) => {
    const copy = f.call('vm.builtin.copy', [f.param('x')]);
    f.call('vm.builtin.make_tuple', [copy, copy]);
    f.call('vm.builtin.fatal', [b.string('enough')], { into: f.void });
    return copy;
  },
  failsOutside: (f) => f.call('test.fails', [f.call('vm.builtin.copy', [f.param('x')])]),
  recurses: (f) => {
    const deeper = f.call('recurses', [f.call('vm.builtin.copy', [f.param('x')])]);
    return f.call('vm.builtin.make_tuple', [deeper]);
  },
  loops: (f) => {
    const again = f.label();
    const list = f.call('vm.builtin.make_tuple', []);
    f.place(again);
    f.call('vm.builtin.make_tuple', [f.call('vm.builtin.copy', [f.param('x')])], { into: list });
    f.goto(again);
    return list;
  },
  exhausts: (f) => {
    const again = f.label();
    const list = f.call('vm.builtin.make_tuple', []);
    f.place(again);
    const copy = f.call('vm.builtin.copy', [f.param('x')]);
    f.call('vm.builtin.make_tuple', [list, copy], { into: list });
    f.goto(again);
    return list;
  },
  returnsAStorage: (f) => {
    const storage = f.call('vm.builtin.alloc_storage', [100, 0]);
    return f.call('vm.builtin.make_tuple', [f.param('x'), storage]);
  },
  // The last one: its arguments stay with a function that never ends.
  waits: (f) => f.call('test.waits', [f.call('vm.builtin.copy', [f.param('x')])]),
} satisfies Readonly<Record<string, Body>>;

function program(functions: Readonly<Record<string, Body>> = FUNCTIONS): Uint8Array {
  const b = new ExecBuilder();
  for (const [name, body] of Object.entries(functions)) {
    const f = b.function(name, ['x']);
    f.ret(body(f, b));
  }
  return b.build().toBytes();
}

const x: WireValue = { kind: 'tensor', dtype: 'float32', shape: [5], data: new Float32Array(5) };

async function open(): Promise<{ host: SessionHost; session: SessionId; devices: Device[] }> {
  const devices: Device[] = [];
  const host = new SessionHost({
    devices: pooledDevices(async () => {
      const device = createHostDevice();
      devices.push(device);
      return device;
    }),
    functions: {
      'test.fails': () => {
        throw new TypeError('no');
      },
      'test.waits': () => new Promise<null>(() => undefined),
    },
  });
  const source = { kind: 'bytes', bytes: program() } as const;
  const request = { source, device: 'host', dims: {}, byteBudget: 1 << 20 } as const;
  const loaded = await host.load(0, request, undefined);
  if (!loaded.ok) throw new Error(loaded.error.message);
  return { host, session: loaded.value.session, devices };
}

test('whatever a run does, it leaves the constants; dispose leaves nothing', async () => {
  const { host, session, devices } = await open();
  let call = 1;
  const liveBytes = async (): Promise<number> => {
    const memory = await host.memory(call++, session);
    if (!memory.ok) throw new Error(memory.error.message);
    expect(memory.value.constantBytes).toBe(400);
    return memory.value.liveBytes;
  };
  const outcomes: Record<string, string> = {};
  for (const functionName of Object.keys(FUNCTIONS)) {
    for (const keep of ['host', 'device'] as const) {
      const request: RunRequest = { session, functionName, args: [x], keep };
      const own = call++;
      const running = host.run(own, request);
      if (/loops|waits/.test(functionName)) {
        await macrotask();
        await host.cancel(own);
      }
      const reply = await running;
      outcomes[functionName] = reply.ok ? 'ok' : (reply.error.message.split('\n')[0] ?? '');
      if (reply.ok) for (const { value } of reply.value) await drop(host, session, value);
      if (functionName !== 'waits')
        expect([functionName, await liveBytes()]).toEqual([functionName, 0]);
    }
  }
  expect(outcomes).toMatchInlineSnapshot(`
    {
      "drops": "ok",
      "exhausts": "allocation on host: got a request of 20 bytes with 1048064 live, 0 pooled and 400 in constants, expected at most 1048576 bytes in all. Raise the byte budget, use a smaller batch, or dispose of other sessions.",
      "fails": "enough",
      "failsOutside": "no",
      "loops": "This operation was aborted",
      "recurses": "allocation on host: got a request of 20 bytes with 1048064 live, 0 pooled and 400 in constants, expected at most 1048576 bytes in all. Raise the byte budget, use a smaller batch, or dispose of other sessions.",
      "returns": "ok",
      "returnsAConstant": "ok",
      "returnsAStorage": "run: got a storage as a result, expected tensors, numbers, strings, shapes, functions or tuples and data of them. Storages stay inside the machine, opaque values on their side, and functions of a snapshot in it.",
      "returnsItsInput": "ok",
      "waits": "This operation was aborted",
    }
  `);
  const [device] = devices;
  expect(device?.counters().bytesLive).toBeGreaterThan(0);
  expect(await host.dispose(call, session)).toEqual({ ok: true, value: false });
  expect(device?.counters()).toMatchObject({ bytesLive: 0, buffersLive: 0 });
});

async function drop(host: SessionHost, session: SessionId, value: WireValue): Promise<void> {
  if (value.kind === 'handle') await host.release(session, value.handle);
  if (value.kind === 'adt') for (const field of value.fields) await drop(host, session, field);
}

describe('a device that does not answer', () => {
  /** A session whose device finishes nothing, while nobody knows yet. */
  async function openStuck() {
    const clock = new FakeClock();
    /** Something is read from the device. */
    const asked = new Deferred();
    const read = (): Promise<never> => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const resolved = (): Promise<void> => Promise.resolve();
    const host = new SessionHost({
      clock,
      devices: pooledDevices(async (kind) => {
        const device = createHostDevice();
        if (kind === 'host') return device;
        return Object.assign(device, {
          queue: { isBusy: () => true, settle: resolved, drain: resolved },
          read,
        });
      }),
    });
    const source = { kind: 'bytes', bytes: program({ returns: FUNCTIONS.returns }) } as const;
    const loading = host.load(1, { source, device: 'webgpu', dims: {} }, undefined);
    const loaded = await loading;
    if (!loaded.ok) throw new Error(loaded.error.message);
    const dispose = (call: CallId) =>
      clock.advanceUntil(host.dispose(call, loaded.value.session), 20);
    return { host, session: loaded.value.session, asked: asked.promise, dispose };
  }

  const aborted = {
    ok: false,
    error: { name: 'AbortError', message: 'This operation was aborted' },
  };

  test('does not keep an aborted run', async () => {
    const { host, session, asked } = await openStuck();
    const running = host.run(2, { session, functionName: 'returns', args: [x], keep: 'host' });
    await asked;
    await host.cancel(2);
    expect(await running).toMatchObject(aborted);
  });

  test('does not keep a disposal, which says that the worker has to stay', async () => {
    const { host, session, asked, dispose } = await openStuck();
    const running = host.run(2, { session, functionName: 'returns', args: [x], keep: 'host' });
    await asked;
    expect(await dispose(3)).toEqual({ ok: true, value: true });
    expect(await running).toMatchObject(aborted);
  });

  test('does not keep a disposal while a handle is read, which no signal ends', async () => {
    const { host, session, asked, dispose } = await openStuck();
    const kept = await host.run(2, { session, functionName: 'returns', args: [x], keep: 'device' });
    if (!kept.ok) throw new Error(kept.error.message);
    void host.read(3, session, 1);
    await asked;
    expect(await dispose(4)).toEqual({ ok: true, value: true });
  });
});
