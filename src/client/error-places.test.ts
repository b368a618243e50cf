import { expect, test } from 'vitest';
import { compile, parseModule } from '../compiler/index.ts';
import { Session, Tensor } from './index.ts';

const TEXT = `
def @inner(%x: Tensor[(n,), float32], %ok: int) {
  let %checked = assert(%ok, message="not today");
  exp(%x)
}
def @main(%x: Tensor[(n,), float32], %ok: int) {
  let %f = fn (%y: Tensor[(n,), float32]) { @inner(%y, %ok) };
  let %r = %f(neg(%x));
  relu(%r)
}`;

test('an error of a session names the line that failed, and those that called it', async () => {
  const executable = compile(parseModule(TEXT, { file: 'model.ir' }), { without: ['inline'] });
  const session = await Session.load(executable.toBytes(), { device: 'host', worker: false });
  const x = Tensor.from([1, 2]);
  const error = await session.run({ x, ok: 0 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchInlineSnapshot(`
    [RuntimeError: model.ir:3:18: assertion failed: not today
        at inner, instruction 4 (line 8), from model.ir:3:18: call vm.builtin.assert(%1, c[2])
        at main, instruction 7 (line 23), from model.ir:8:12: %4 = call main.fn(%3, %1)]
  `);
  expect(error).toMatchObject({ name: 'RuntimeError', details: { places: ['model.ir:3:18'] } });
  await session.dispose();
});
