import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../bytecode/index.ts';
import { compile, parseModule } from '../compiler/index.ts';
import { OutOfMemoryError, RuntimeError, UnsupportedError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { countingLoop } from '../worker/testing/test-programs.ts';
import { RemoteTensor } from './values/remote-handles.ts';
import { openConnection } from './testing/open-connection.ts';

const MEBIBYTE = 2 ** 20;

/** `keep(x)` returns a tensor of its own, which the client holds. */
function keeping(): ReturnType<ExecBuilder['build']> {
  const b = new ExecBuilder();
  const f = b.function('keep', ['x']);
  f.ret(f.call('vm.builtin.copy', [f.param('x')]));
  return b.build();
}

describe('what a server lets programs take', () => {
  test('instructions and time of a call', async () => {
    const { remote } = await openConnection({ limits: { instructionLimit: 10_000 } });
    const module = await remote.load(countingLoop());
    const main = await module.getFunction('main');
    expect(await main(1000)).toBe(1000);
    const long = main(100_000);
    await expect(long).rejects.toBeInstanceOf(RuntimeError);
    await expect(long).rejects.toThrow('got a program that runs beyond 10000 instructions');
    remote.close();
    const clock = new FakeClock();
    const timed = await openConnection({ limits: { runTimeout: 50 }, clock });
    const endless = await (await timed.remote.load(countingLoop())).getFunction('main');
    const running = clock.advanceUntil(endless(2 ** 31 - 1), 50);
    await expect(running).rejects.toBeInstanceOf(RuntimeError);
    await expect(running).rejects.toThrow(
      'got a run of more than 50 ms, expected results within the runTimeout. Raise it when you load the program, as far as its worker or server allows.',
    );
    expect(await endless(10)).toBe(10);
    timed.remote.close();
  });

  test('kernels of their own', async () => {
    const text = `
kernel @double(%x: Tensor[(4,), float32]) -> Tensor[(4,), float32] {
  wgsl = """
@compute @workgroup_size(WORKGROUP_SIZE_X)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { store(id.x, 2f * load_a(id.x)); }
""",
  params = [],
  sizes = [],
  grid = [1, 1, 1],
  workgroup = [4, 1, 1],
  host = @double_host
}
def @double_host(%x: Tensor[(4,), float32]) -> Tensor[(4,), float32] { add(%x, %x) }
def @main(%x: Tensor[(4,), float32]) -> Tensor[(4,), float32] { @double(%x) }
`;
    const devices = [createHostDevice()];
    const program = compile(parseModule(text));
    const allowing = await openConnection({ devices });
    await allowing.remote.load(program);
    allowing.remote.close();
    const limits = { programKernels: 'refuse' } as const;
    const { remote } = await openConnection({ devices, limits });
    const loading = remote.load(program);
    await expect(loading).rejects.toBeInstanceOf(UnsupportedError);
    await expect(loading).rejects.toThrow('got a program with WGSL of its own (double)');
    remote.close();
  });

  test('bytes, of all programs of a connection together', async () => {
    const { remote, device } = await openConnection({ limits: { byteBudget: 5 * MEBIBYTE } });
    const modules = [await remote.load(keeping()), await remote.load(keeping())];
    const x = HostTensor.zeros('float32', [MEBIBYTE / 4]);
    const [first, second] = await Promise.all(modules.map((module) => module.getFunction('keep')));
    const kept: RemoteTensor[] = [];
    const fill = async (): Promise<void> => {
      for (const keep of [first, second, first, second, first, second]) {
        const result = await keep?.invoke([x], { keep: 'device' });
        if (result instanceof RemoteTensor) kept.push(result);
      }
    };
    const filling = fill();
    await expect(filling).rejects.toBeInstanceOf(OutOfMemoryError);
    expect(kept.length).toBeGreaterThan(1);
    expect(device.counters().bytesLive).toBeLessThanOrEqual(5 * MEBIBYTE);
    for (const tensor of kept) tensor.release();
    remote.close();
  });

  test('a module that was released leaves its bytes to the others', async () => {
    const { remote } = await openConnection({ limits: { byteBudget: 3 * MEBIBYTE } });
    const x = HostTensor.zeros('float32', [MEBIBYTE / 4]);
    for (let i = 0; i < 5; i++) {
      const module = await remote.load(keeping());
      const keep = await module.getFunction('keep');
      expect(await keep(x)).toMatchObject({ dtype: 'float32', shape: x.shape });
      module.release();
    }
    remote.close();
  });
});
