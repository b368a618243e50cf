import { expect, test } from 'vitest';
import { compile, parseModule } from '../compiler/index.ts';
import { Session, Tensor } from './index.ts';

const TEXT = `
private def @count(%n: int) -> int { if (int_lt(%n, #1)) { #0 } else { int_add(#1, @count(int_sub(%n, #1))) } }
def @twice(%x: Tensor[(n,), float32]) { add(%x, %x) }
def @main(%x: Tensor[(n,), float32], %n: int) {
  %f = if (%n) { fn (%y: Tensor[(n,), float32]) { add(%y, %x) } } else { @twice };
  (%f(%x), @count(%n))
}`;

test('sessions name and call what is not private', async () => {
  const session = await Session.load(compile(parseModule(TEXT)).toBytes(), {
    device: 'host',
    worker: false,
  });
  const x = Tensor.from([1, 2]);
  expect([...session.functions].toSorted()).toEqual(['main', 'twice']);
  const { result1 } = await session.run({ x, n: 3 });
  expect(result1).toBe(3);
  await expect(session.run({ n: 3 }, { function: 'count' })).rejects.toThrow(
    'run: got function "count", expected one of',
  );
  await session.dispose();
});
