import type { NodeProto } from '../../frontend/onnx/protobuf/schema.ts';
import type { ModelWork } from './model-head.ts';

/** A weight without its elements. */
export interface Weight {
  readonly shape: readonly number[];
  readonly byteLength: number;
}

type Sizes = readonly number[];

/** Free sizes: one example, pictures of 224, sequences of 128. */
const FREE_BATCH = 1;
const FREE_SIDE = 224;
const FREE_LENGTH = 128;
const FLOAT_BYTES = 4;

/** Operators that no device launches anything for. */
const FREE = new Set([
  'Constant',
  'Identity',
  'Reshape',
  'Flatten',
  'Squeeze',
  'Unsqueeze',
  'Shape',
  'Dropout',
  'Cast',
]);

/**
 * The work of an ONNX graph, from its nodes and the shapes of its weights alone: products and
 * convolutions by their weights and the places that they are applied at, of all others that each
 * element is read and written. Shapes that a graph computes at run time are taken to be those of
 * the value before, so this is an estimate.
 */
export function onnxWork(
  nodes: readonly NodeProto[],
  weights: ReadonlyMap<string, Weight>,
  inputs: ReadonlyMap<string, readonly (number | undefined)[] | undefined>,
): ModelWork {
  const shapes = new Map<string, Sizes>();
  for (const [name, sizes] of inputs) shapes.set(name, fixedSizes(sizes ?? []));
  let operations = 0;
  let bytes = 0;
  let launches = 0;
  for (const node of nodes) {
    const [first = '', second = ''] = node.input;
    const shape = shapes.get(first) ?? weights.get(first)?.shape ?? [];
    const weight = weights.get(second)?.shape ?? shapes.get(second);
    const { out, amount } = workOf(node, shape, weight);
    for (const name of node.output) shapes.set(name, out);
    if (FREE.has(node.opType ?? '')) continue;
    launches++;
    operations += amount;
    bytes += FLOAT_BYTES * (count(shape) + count(out));
    for (const name of node.input) bytes += weights.get(name)?.byteLength ?? 0;
  }
  return { per: 'run', launches, operations, bytes };
}

interface NodeWork {
  readonly out: Sizes;
  readonly amount: number;
}

function workOf(node: NodeProto, shape: Sizes, weight: Sizes | undefined): NodeWork {
  switch (node.opType) {
    case 'Conv':
    case 'ConvInteger':
    case 'QLinearConv':
      return convolution(node, shape, weight);
    case 'ConvTranspose':
      return transposed(node, shape, weight);
    case 'MaxPool':
    case 'AveragePool':
      return { out: windowed(node, shape, shape[1] ?? 1), amount: count(shape) };
    case 'GlobalAveragePool':
    case 'GlobalMaxPool':
      return { out: shape.map((size, i) => (i < 2 ? size : 1)), amount: count(shape) };
    case 'MatMul':
    case 'MatMulInteger':
    case 'Gemm':
      return product(node, shape, weight);
    case 'Flatten':
      return { out: [shape[0] ?? 1, count(shape.slice(1))], amount: 0 };
    case 'LSTM':
    case 'GRU':
      return { out: shape, amount: 4 * count(weight ?? []) * (shape[0] ?? 1) };
    default:
      return { out: shape, amount: count(shape) };
  }
}

function convolution(node: NodeProto, shape: Sizes, weight: Sizes | undefined): NodeWork {
  if (weight === undefined) return { out: shape, amount: count(shape) };
  const out = windowed(node, shape, weight[0] ?? 1, weight.slice(2));
  const places = (out[0] ?? 1) * count(out.slice(2));
  return { out, amount: 2 * count(weight) * places };
}

function transposed(node: NodeProto, shape: Sizes, weight: Sizes | undefined): NodeWork {
  const strides = numbers(node, 'strides');
  const out = [
    shape[0] ?? 1,
    weight?.[1] ?? 1,
    ...shape.slice(2).map((n, i) => n * (strides?.[i] ?? 1)),
  ];
  return { out, amount: 2 * count(weight ?? []) * (shape[0] ?? 1) * count(shape.slice(2)) };
}

function product(node: NodeProto, shape: Sizes, weight: Sizes | undefined): NodeWork {
  if (weight === undefined) return { out: shape, amount: count(shape) };
  const isTransposed = node.attribute.some(({ name, i }) => name === 'transB' && i === 1n);
  const [depth, columns] = isTransposed
    ? [weight.at(-1) ?? 1, weight.at(-2) ?? 1]
    : [weight.at(-2) ?? 1, weight.at(-1) ?? 1];
  // A reshape before leaves the number of elements as it is.
  const rows = Math.max(1, Math.round(count(shape) / depth));
  const out = shape.at(-1) === depth ? [...shape.slice(0, -1), columns] : [rows, columns];
  return { out, amount: 2 * depth * columns * rows };
}

/** Sizes behind a window that moves over the sizes of rows and columns. */
function windowed(node: NodeProto, shape: Sizes, channels: number, kernel?: Sizes): Sizes {
  const sides = numbers(node, 'kernel_shape') ?? kernel ?? [];
  const strides = numbers(node, 'strides') ?? [];
  const pads = numbers(node, 'pads') ?? [];
  const dilations = numbers(node, 'dilations') ?? [];
  const isSame = node.attribute.some(
    ({ name, s }) => name === 'auto_pad' && s !== undefined && s[0] === 'S'.charCodeAt(0),
  );
  const rank = shape.length - 2;
  const places = shape.slice(2).map((size, i) => {
    const stride = strides[i] ?? 1;
    if (isSame) return Math.ceil(size / stride);
    const reach = ((sides[i] ?? 1) - 1) * (dilations[i] ?? 1) + 1;
    const room = size + (pads[i] ?? 0) + (pads[i + rank] ?? 0) - reach;
    return Math.max(1, Math.floor(room / stride) + 1);
  });
  return [shape[0] ?? 1, channels, ...places];
}

function numbers(node: NodeProto, name: string): number[] | undefined {
  const found = node.attribute.find((attribute) => attribute.name === name);
  return found === undefined ? undefined : Array.from(found.ints, Number);
}

function fixedSizes(sizes: readonly (number | undefined)[]): Sizes {
  const free = sizes.length > 3 ? FREE_SIDE : FREE_LENGTH;
  return sizes.map((size, i) =>
    size !== undefined && size > 0 ? size : i === 0 ? FREE_BATCH : free,
  );
}

function count(sizes: Sizes): number {
  return sizes.reduce((product, size) => product * size, 1);
}
