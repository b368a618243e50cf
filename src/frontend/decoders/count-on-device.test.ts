import { expect, test } from 'vitest';
import { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { compile } from '../../compiler/compile.ts';
import { parseModule } from '../../compiler/ir/text/parse.ts';
import { countOnDevice } from './count-on-device.ts';

const text = (start: number, size: string, dtype: string): string => `
def @main(%x: Tensor[(c, 2), float32], results=["numbers", "rest"]) {
  (cast(arange(start=[${start}], size=[${size}]), to="${dtype}"), add(%x, 1f))
}`;

/**
 * Runs a program that counts, for a size. Gives the numbers, and if any kernel is placed on the
 * host.
 */
async function count(module: ReturnType<typeof parseModule>, size: number) {
  const executable = compile(module, { verify: true });
  const session = await Session.load(executable.toBytes(), { device: 'wasm', worker: false });
  const x = new Tensor('float32', new Float32Array(size * 2), [size, 2]);
  const { numbers } = await session.run({ x });
  await session.dispose();
  return {
    numbers: Array.from(numbers?.data ?? [], Number),
    isOnHost: executable.primitives.some(({ device }) => device === 'host'),
  };
}

test.each(['int32', 'uint32'])(
  'numbers of %s up to a size are made on the device',
  async (dtype) => {
    const module = countOnDevice(parseModule(text(0, 'c', dtype)));
    for (const size of [0, 1, 255, 256, 257, 1000]) {
      const { numbers, isOnHost } = await count(module, size);
      expect(numbers).toEqual(Array.from({ length: size }, (_, i) => i));
      expect(isOnHost).toBe(false);
    }
  },
);

test('of a fixed size as well', async () => {
  const { numbers, isOnHost } = await count(countOnDevice(parseModule(text(0, '700', 'int32'))), 1);
  expect(numbers).toEqual(Array.from({ length: 700 }, (_, i) => i));
  expect(isOnHost).toBe(false);
});

test.each([text(1, 'c', 'int32'), text(0, 'c', 'float32'), text(0, '1048577', 'int32')])(
  'others stay: %s',
  (source) => {
    const module = parseModule(source);
    expect(countOnDevice(module)).toBe(module);
  },
);
