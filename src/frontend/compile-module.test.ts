import { expect, test } from 'vitest';
import { compile, Executable } from '../compiler/compile.ts';
import { moduleToJson } from '../compiler/ir/json/json.ts';
import { parseModule } from '../compiler/ir/text/parse.ts';
import type { Pass } from '../compiler/passes/pass.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { compileModule } from './compile-module.ts';
import { compileOnnx } from './onnx/compile-onnx.ts';

const STEP = `def @loss(%w: Tensor[(2,), float32], %x: Tensor[(n, 2), float32], %y: Tensor[(n,), float32]) {
  mean_squared_error(matmul(%x, %w), %y)
}
def @main(%w: Tensor[(2,), float32], %x: Tensor[(n, 2), float32], %y: Tensor[(n,), float32]) {
  gradient(fn (%v: Tensor[(2,), float32]) { @loss(%v, %x, %y) })(%w)
}`;

test.each([
  ['losses and derivatives', STEP],
  ['neither', 'def @main(%x: Tensor[(n, 2), float32]) { exp(%x) }'],
])('a module with %s compiles in turns to what it is at once', async (_, text) => {
  const module = parseModule(text);
  const bytes = new TextEncoder().encode(JSON.stringify(moduleToJson(module)));
  const assembled = await compileModule(bytes, { where: 'test', sourceMap: false });
  const expected = compile(module, { sourceMap: false }).toBytes();
  expect(Executable.of(assembled).toBytes()).toEqual(expected);
});

test('passes of the caller run on a model in ONNX', () => {
  const ran: string[] = [];
  const pass: Pass = { name: 'mine', run: (module) => (ran.push('mine'), module) };
  const nodes = [{ op: 'Exp', inputs: ['x'], outputs: ['y'] }];
  const model = writeOnnxModel({ nodes, inputs: [{ name: 'x', shape: [2] }], outputs: ['y'] });
  compileOnnx(model, { passes: [{ pass, after: 'simplify' }] });
  expect(ran).toEqual(['mine']);
});
