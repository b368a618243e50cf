import { expect, test } from 'vitest';
import { compile } from '../compiler/compile.ts';
import { parseModule } from '../compiler/ir/text/parse.ts';
import { nodeGpu } from '../testing/node-gpu.ts';
import type { DeviceTensor } from './values/device-tensor.ts';
import { Session } from './session.ts';
import { Tensor } from './values/tensor.ts';

const PROGRAM = compile(
  parseModule(`
    def @main(%x: Tensor[(n,), float32]) { add(%x, 1f) }
    def @same(%x: Tensor[(n,), float32]) { %x }`),
).toBytes();

const numbers = Array.from({ length: 1000 }, (_, i) => i);
const plus = (step: number) => numbers.map((value) => value + step);

async function kept(session: Session, x: Tensor | DeviceTensor, options = {}) {
  const { result } = await session.run({ x }, { keep: 'device', ...options });
  return result as DeviceTensor;
}

test.each(['host', 'wasm', 'webgpu'] as const)(
  'tensors of one session are inputs of another, also when it was disposed of: %s',
  async (device) => {
    const options = {
      device,
      worker: false,
      ...(device === 'webgpu' && { gpu: await nodeGpu() }),
    } as const;
    const [first, second, third] = await Promise.all([
      Session.load(PROGRAM, options),
      Session.load(PROGRAM, options),
      Session.load(PROGRAM, options),
    ]);
    const one = await kept(first, Tensor.from(numbers));
    const same = await kept(second, one, { function: 'same' });
    const running = second.run({ x: one });
    await first.dispose();
    // It would take memory that is free by now.
    const other = await kept(third, Tensor.from(numbers.map(() => -1)));
    expect([...((await running).result?.data ?? [])]).toEqual(plus(2));
    expect([...(await same.read()).data]).toEqual(plus(1));
    same.dispose();
    await expect(second.run({ x: one })).rejects.toThrow('got a handle that was disposed of');
    other.dispose();
    await Promise.all([second.dispose(), third.dispose()]);
  },
);

test('a tensor that is given away to another session is its own', async () => {
  const options = { device: 'wasm', worker: false } as const;
  const [first, second] = [
    await Session.load(PROGRAM, options),
    await Session.load(PROGRAM, options),
  ];
  const one = await kept(first, Tensor.from(numbers));
  const { result } = await second.run({ x: one }, { donate: ['x'] });
  expect([...(result?.data ?? [])]).toEqual(plus(2));
  await expect(first.run({ x: one })).rejects.toThrow('got a handle that was disposed of');
  expect((await first.memory()).liveBytes).toBe(0);
  await Promise.all([first.dispose(), second.dispose()]);
});
