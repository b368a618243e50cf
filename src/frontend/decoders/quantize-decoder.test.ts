import { expect, test } from 'vitest';
import { call, constant, func, moduleOf, tuple, variable } from '../../compiler/ir/build.ts';
import type { Expr } from '../../compiler/ir/expr.ts';
import { postOrder } from '../../compiler/ir/walk/visit.ts';
import { compile } from '../../compiler/compile.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { quantizeDecoder, withReport } from './quantize-decoder.ts';
import { WeightQuantizer } from './weight-quantizer.ts';

const matrix = (dtype: 'float32' | 'float16', ...shape: number[]): Expr =>
  constant(
    HostTensor.from(
      dtype,
      shape,
      Array.from({ length: 64 * 32 }, (_, i) => i % 11),
    ),
  );

const byColumns = matrix('float32', 32, 64);

/** Products of all kinds that decoders have. */
function decoderOf(products: (x: Expr, half: Expr, y: Expr) => readonly Expr[]) {
  const x = variable('x', 'float32', ['b', 32]);
  const half = variable('half', 'float16', ['b', 32]);
  const y = variable('y', 'float32', [32, 4]);
  const module = moduleOf({ decode: func([x, half, y], tuple([...products(x, half, y)])) });
  return { module, vocabulary: 64, caches: [] };
}

function operatorsOf({ functions }: { functions: ReadonlyMap<string, Expr> }): string[] {
  const names: string[] = [];
  for (const fn of functions.values()) {
    for (const expr of postOrder(fn)) {
      if (expr.kind === 'call' && expr.callee.kind === 'operator') names.push(expr.callee.name);
    }
  }
  return names;
}

test('products by constant matrices read codes, of each matrix once', () => {
  const decoder = decoderOf((x, half, y) => [
    call('matmul', [x, byColumns]),
    call('matmul', [call('relu', [x]), byColumns]),
    call('matmul', [half, matrix('float16', 32, 64)]),
    call('matmul', [x, call('transpose', [matrix('float32', 64, 32)], { perm: [1, 0] })]),
    call('matmul', [x, y]),
  ]);
  const quantizer = new WeightQuantizer('q4_0');
  const { module } = quantizeDecoder(decoder, quantizer);
  const operators = operatorsOf(module);
  expect(operators.filter((name) => name === 'matmul_nbits')).toHaveLength(4);
  expect(operators.filter((name) => name === 'matmul')).toHaveLength(1);
  // Those in float16 go to float32 and back.
  expect(operators.filter((name) => name === 'cast')).toHaveLength(2);
  expect(quantizer.report.matrices).toBe(3);
  // It is well-typed, and says how far weights were moved.
  const { functions } = compile(withReport(module, quantizer), { verify: true });
  expect(functions.map(({ name }) => name)).toContain('quantization');
});

test('a matrix whose columns are no blocks stays', () => {
  const odd = constant(HostTensor.from('float32', [32, 8], new Float32Array(256)));
  const y = variable('y', 'float32', ['b', 8]);
  const table = constant(HostTensor.from('float32', [8, 32], new Float32Array(256)));
  const decoder = decoderOf((x) => [call('matmul', [x, odd])]);
  const other = { ...decoder, module: moduleOf({ decode: func([y], call('matmul', [y, table])) }) };
  const quantizer = new WeightQuantizer('q8_0');
  expect(operatorsOf(quantizeDecoder(decoder, quantizer).module)).toEqual(['matmul_nbits']);
  expect(operatorsOf(quantizeDecoder(other, quantizer).module)).toEqual(['matmul']);
  expect(quantizer.report.kept).toEqual(['matrix 0 (8, 32)']);
});
