import { ExecBuilder } from '../../bytecode/build/exec-builder.ts';
import type { Executable } from '../../bytecode/file/executable-file.ts';
import type { RegisterOperand } from '../../bytecode/build/function-builder.ts';

const TYPE = { dtype: 'float32', shape: [8, 8] } as const;
const KERNELS_PER_LAYER = 13;
const VALUE = { kind: 'tensor', ...TYPE } as const;

/**
 * A program of at least so many kernels in layers as those of a transformer, with names as exporters write them:
 * `/layers.3/attention/scores`. It runs anywhere.
 */
export function deepProgram(kernelCount: number): Executable {
  const b = new ExecBuilder();
  const unary = (op: string) =>
    b.primitive({
      name: op,
      params: [TYPE],
      body: [{ op, inputs: [0], attributes: op === 'softmax' ? { axis: -1 } : {} }],
      results: [{ value: 1, type: TYPE }],
    });
  const binary = (op: string) =>
    b.primitive({
      name: op,
      params: [TYPE, TYPE],
      body: [{ op, inputs: [0, 1], attributes: {} }],
      results: [{ value: 2, type: TYPE }],
    });
  const [softmax, tanh] = [unary('softmax'), unary('tanh')];
  const [matmul, add] = [binary('matmul'), binary('add')];
  const f = b.function('main', ['x'], {
    signature: { params: [VALUE], results: [{ name: 'y', type: VALUE }] },
  });
  const call = (callee: typeof add, inputs: readonly RegisterOperand[], source: string) => {
    f.at({ source });
    const storage = f.call('vm.builtin.alloc_storage', [256, 0]);
    const tensor = f.call('vm.builtin.alloc_tensor', [
      storage,
      0,
      b.shape(TYPE.shape),
      b.dtype('float32'),
    ]);
    f.call(callee, [...inputs, tensor]);
    return tensor;
  };
  let x = f.param('x');
  for (let layer = 0; layer * KERNELS_PER_LAYER < kernelCount; layer++) {
    const name = (part: string): string => `/layers.${layer}/${part}`;
    const norm = call(softmax, [x], name('norm1'));
    const [q, k, v] = ['query', 'key', 'value'].map((part) =>
      call(tanh, [norm], name(`attention/${part}`)),
    ) as [RegisterOperand, RegisterOperand, RegisterOperand];
    const scores = call(matmul, [q, k], name('attention/scores'));
    const weights = call(softmax, [scores], name('attention/weights'));
    const mixed = call(matmul, [weights, v], name('attention/mixed'));
    const residual = call(add, [mixed, x], name('add1'));
    const second = call(softmax, [residual], name('norm2'));
    const up = call(tanh, [second], name('mlp/up'));
    const gate = call(tanh, [second], name('mlp/gate'));
    const product = call(matmul, [up, gate], name('mlp/product'));
    x = call(add, [product, residual], name('add2'));
  }
  f.at();
  f.ret(x);
  return b.build();
}
