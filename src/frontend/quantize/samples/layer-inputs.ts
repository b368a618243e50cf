import { elementCount, type Shape } from '../../../core/tensor/shape.ts';
import { NodeAttributes } from '../../onnx/attributes.ts';
import { canonicalDomain } from '../../onnx/model/operator-sets.ts';
import type { NodeProto, TensorProto } from '../../onnx/protobuf/schema.ts';
import type { GraphScope } from '../graph-scope.ts';
import { nodeName } from '../quantized-layer.ts';

/** Floats of a value, row-major. */
export interface FloatValue {
  readonly shape: Shape;
  readonly data: Float32Array;
}

/** The vectors of a node's input that each row of its weights is multiplied by. */
export interface LayerInput {
  readonly value: string;
  readonly weights: TensorProto;
  /** Elements of a vector, and of a row. */
  readonly depth: number;
  /** The axis of its weights whose indices are the rows. */
  readonly rowAxis: 0 | 1;
  /** Sets of rows that read different vectors. */
  readonly groups: number;
  /** How many vectors a value of a shape has in each group. */
  readonly count: (shape: Shape) => number;
  /** Writes a vector, by its number, of a group. */
  readonly read: (value: FloatValue, place: VectorPlace, into: Float64Array) => void;
}

interface VectorPlace {
  readonly group: number;
  readonly index: number;
}

/** A convolution or a product by a matrix, whose weights are constant. Undefined for all other nodes. */
export function layerInput(node: NodeProto, scope: GraphScope): LayerInput | undefined {
  const [value = '', weights = ''] = node.input;
  const found = scope.constantOf(weights);
  if (found === undefined || scope.constantOf(value) !== undefined) return undefined;
  if (canonicalDomain(node.domain) !== '') return undefined;
  const common = { value, weights: found.tensor };
  const { opType } = node;
  if (opType === 'Conv') {
    return found.isTransposed
      ? undefined
      : { ...common, rowAxis: 0, ...windows(node, found.shape) };
  }
  if ((opType !== 'MatMul' && opType !== 'Gemm') || found.shape.length !== 2) return undefined;
  const attributes = new NodeAttributes(node, nodeName(node));
  if (opType === 'Gemm' && attributes.bool('transA')) return undefined;
  const hasRows = found.isTransposed !== (opType === 'Gemm' && attributes.bool('transB'));
  const rowAxis = hasRows ? 0 : 1;
  return { ...common, rowAxis, ...rows(found.shape[1 - rowAxis] ?? 0) };
}

type Vectors = Omit<LayerInput, 'value' | 'weights' | 'rowAxis'>;

function rows(depth: number): Vectors {
  return {
    depth,
    groups: 1,
    count: (shape) => (shape.at(-1) === depth ? elementCount(shape) / depth : 0),
    read: ({ data }, { index }, into) =>
      into.set(data.subarray(index * depth, (index + 1) * depth)),
  };
}

/** The windows of a convolution with weights of a shape; zeros where they reach beyond the input. */
function windows(node: NodeProto, [, channels = 0, ...kernel]: Shape): Vectors {
  const attributes = new NodeAttributes(node, nodeName(node));
  const ones = kernel.map(() => 1);
  const strides = attributes.ints('strides') ?? ones;
  const dilations = attributes.ints('dilations') ?? ones;
  const pads = attributes.ints('pads') ?? [...ones, ...ones].fill(0);
  const autoPad = attributes.string('auto_pad', 'NOTSET');
  const groups = attributes.int('group', 1);
  /** Windows along an axis, and where the first begins. */
  const along = (size: number, axis: number): readonly [count: number, begin: number] => {
    const [stride = 1, dilation = 1] = [strides[axis], dilations[axis]];
    const extent = ((kernel[axis] ?? 1) - 1) * dilation + 1;
    if (autoPad.startsWith('SAME')) {
      const count = Math.ceil(size / stride);
      const total = Math.max(0, (count - 1) * stride + extent - size);
      return [count, -(autoPad === 'SAME_LOWER' ? Math.ceil(total / 2) : Math.floor(total / 2))];
    }
    const isPadded = autoPad !== 'VALID';
    const [begin = 0, end = 0] = isPadded ? [pads[axis], pads[axis + kernel.length]] : [];
    return [Math.max(0, Math.floor((size + begin + end - extent) / stride) + 1), -begin];
  };
  const taps = elementCount(kernel);
  return {
    depth: channels * taps,
    groups,
    count: ([batch = 1, all, ...sizes]) =>
      all === channels * groups && sizes.length === kernel.length
        ? batch * elementCount(sizes.map((size, axis) => along(size, axis)[0]))
        : 0,
    read: ({ shape: [, all = 1, ...sizes], data }, { group, index }, into) => {
      const axes = sizes.map((size, axis) => along(size, axis));
      let rest = index;
      const begins = axes
        .toReversed()
        .map(([count, begin], i) => {
          const at = rest % count;
          rest = Math.floor(rest / count);
          return at * (strides[kernel.length - 1 - i] ?? 1) + begin;
        })
        .toReversed();
      const plane = elementCount(sizes);
      const first = (rest * all + group * channels) * plane;
      for (let tap = 0; tap < taps; tap++) {
        const offset = tapOffset(tap, { kernel, sizes, begins, dilations });
        for (let channel = 0; channel < channels; channel++) {
          into[channel * taps + tap] =
            offset === undefined ? 0 : (data[first + channel * plane + offset] ?? 0);
        }
      }
    },
  };
}

interface Window {
  readonly kernel: readonly number[];
  readonly sizes: readonly number[];
  /** The first index of the window, along each axis. */
  readonly begins: readonly number[];
  readonly dilations: readonly number[];
}

/** Where an element of a window lies in its plane; undefined beside the plane. */
function tapOffset(tap: number, { kernel, sizes, begins, dilations }: Window): number | undefined {
  let [offset, stride, rest] = [0, 1, tap];
  for (let axis = kernel.length - 1; axis >= 0; axis--) {
    const [length = 1, size = 1] = [kernel[axis], sizes[axis]];
    const at = (begins[axis] ?? 0) + (rest % length) * (dilations[axis] ?? 1);
    if (at < 0 || at >= size) return undefined;
    offset += at * stride;
    stride *= size;
    rest = Math.floor(rest / length);
  }
  return offset;
}
