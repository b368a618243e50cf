import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { convolutionProblem } from '../convolution/convolution-problem.ts';
import { volumeAxes, windowAxes } from '../convolution/window.ts';
import { matmulProblem } from '../linear/matmul-problem.ts';
import type { WasmCall, WasmLowering } from '../lowering/wasm-lowering.ts';
import { windowPairs } from './integer-windows.wasm.ts';
import { type ByteSign, integerKernel, type ZeroStrides } from './integer-product.wasm.ts';

const signOf = (dtype: DType | undefined): ByteSign => (dtype === 'int8' ? 's' : 'u');

/** Strides of the zero points in input `index`: one for all, or one for each row or column. */
function zerosOf(
  { inputs }: WasmCall,
  index: number,
  batch: readonly number[] = [],
): ZeroStrides | undefined {
  const type = inputs[index];
  if (type === undefined) return undefined;
  return elementCount(type.shape) === 1 ? { stride: 0, batch: [] } : { stride: 1, batch };
}

export const matmulInteger: WasmLowering = (given) => {
  const { inputs } = given;
  const { m, n, k, batch, a, b } = matmulProblem(given);
  const problem = {
    m,
    n,
    k,
    batch,
    a,
    b,
    signs: [signOf(inputs[0]?.dtype), signOf(inputs[1]?.dtype)] as const,
    aZeros: zerosOf(given, 2),
    bZeros: zerosOf(given, 3),
  };
  return integerKernel(
    problem,
    ([first, second, aZero, bZero], y) =>
      first && second && { a: first, b: second, aZero, bZero, y },
  );
};

export const convInteger: WasmLowering = (given) => {
  const { inputs, output, attributes } = given;
  const [x = [], w = []] = inputs.map((type) => type?.shape);
  const options = { name: 'conv_integer', ceilMode: false, dims: CONCRETE_DIMS };
  const axes = volumeAxes(windowAxes(x, attributes, { ...options, kernel: w.slice(2) }));
  const [batch = 1, channels = 1] = x;
  const groups = Number(attributes['groups'] ?? 1);
  const {
    m,
    n,
    k,
    a,
    batch: sizes,
  } = convolutionProblem({
    batch,
    outChannels: output.shape[1] ?? 1,
    groups,
    groupTaps: elementCount(w.slice(1)),
    pixels: elementCount(output.shape.slice(2)),
    hasBias: false,
  });
  const group = channels / groups;
  const size = axes.reduce((product, axis) => product * axis.size, 1);
  const zeros = zerosOf(given, 2, [0, group]);
  const problem = {
    m,
    n,
    k,
    batch: sizes,
    a,
    b: { batch: [channels * size, group * size], row: 0, column: 0 },
    signs: [signOf(inputs[1]?.dtype), signOf(inputs[0]?.dtype)] as const,
    aZeros: zerosOf(given, 3, [0, m]),
    bZeros: zeros,
  };
  return integerKernel(
    problem,
    ([image, weights, bZero, aZero], y) =>
      image && weights && { a: weights, b: image, aZero, bZero, y },
    windowPairs({
      axes,
      channels: group,
      sign: problem.signs[1],
      zeroStride: zeros?.stride,
    }),
  );
};
