import { canonicalDomain, OperatorSets } from '../onnx/model/operator-sets.ts';
import { isExternal } from '../onnx/protobuf/external-data.ts';
import { readModel } from '../onnx/protobuf/read-model.ts';
import type { NodeProto } from '../onnx/protobuf/schema.ts';
import { storedByteLength } from '../onnx/protobuf/tensor-data.ts';
import { convertToFloat16 } from './convert-to-float16.ts';
import { isFloatTensor } from './float-weights.ts';
import { GraphScope } from './graph-scope.ts';
import { ModelEdits, type WrittenNode } from './model-edits.ts';
import { checkedOptions, type QuantizeOptions } from './quantize-options.ts';
import { quantizeGemm, quantizeMatMul, type RoundedNode } from './quantize-product.ts';
import { type KeptNode, layerKey, nodeName, type QuantizedLayer } from './quantized-layer.ts';
import { roundActivations } from './round-activations.ts';
import { TensorStore } from './tensor-store.ts';
import { WeightCoder } from './weight-coder.ts';

/** Which inputs of operators are weights, and the axis of what each gives or reads with a scale of its own. */
const WEIGHT_AXES: Readonly<Record<string, readonly (readonly [input: number, axis: number])[]>> = {
  Conv: [[1, 0]],
  ConvTranspose: [[1, 1]],
  // (directions, gates, ...): a scale for each row of each gate, the same for both directions.
  GRU: [
    [1, 1],
    [2, 1],
  ],
  LSTM: [
    [1, 1],
    [2, 1],
  ],
  RNN: [
    [1, 1],
    [2, 1],
  ],
};

/** Constant weights as int8 with `DequantizeLinear` behind; or why they stay as they are. */
function quantizeChannels(
  node: NodeProto,
  { scope, axes }: { scope: GraphScope; axes: readonly (readonly [number, number])[] },
  coder: WeightCoder,
): RoundedNode | string {
  const input = [...node.input];
  const written: WrittenNode[] = [];
  const released: string[] = [];
  let reason = 'its weights are computed';
  let [squared, count] = [0, 0];
  for (const [at, axis] of axes) {
    const name = input[at] ?? '';
    const found = scope.constantOf(name);
    if (found === undefined) continue;
    const coded = coder.channels(found, { node, scope, axis });
    if (typeof coded === 'string') {
      reason = coded;
      continue;
    }
    if (coded.node) written.push({ draft: coded.node });
    input[at] = coded.output;
    released.push(name);
    squared += coded.weightError ** 2;
    count++;
  }
  if (count === 0) return reason;
  coder.edits.replace(node, [...written, { base: node, draft: { input } }]);
  for (const name of released) coder.edits.release(name);
  return {
    becomes: 'weights of int8, a scale per channel',
    weightError: Math.sqrt(squared / count),
  };
}

/** An ONNX model with rounded weights. */
export interface QuantizedOnnx {
  /** The model. */
  readonly model: Uint8Array;
  /** The bytes of the file that lies beside it, in pieces; none where all is in the model. */
  readonly data: readonly Uint8Array[];
  /** Nodes whose weights were rounded, in the order of the model, those of inner graphs behind. */
  readonly layers: readonly QuantizedLayer[];
  /** Nodes with float weights that stay as they were. */
  readonly kept: readonly KeptNode[];
  /** How many nodes of other operators compute as before, by operator. */
  readonly others: Readonly<Record<string, number>>;
  /**
   * The values that `ranges` may tell of: those that convolutions read and give, which are rounded to uint8 between them; with
   * 16 bits those that may become float16.
   */
  readonly activations: readonly string[];
  /** The names of the model's outputs. */
  readonly outputs: readonly string[];
  /** Operators of a model that was quantised before and is as it was; none for others. */
  readonly wasQuantized: readonly string[];
}

/**
 * An ONNX model with rounded weights. `MatMul` and `Gemm` by constant matrices become `MatMulNBits` of com.microsoft;
 * convolutions and recurrent layers read weights of int8 through `DequantizeLinear`, with a scale for each channel; where
 * ranges are given, what convolutions read and give goes through `QuantizeLinear` and `DequantizeLinear` too, but with `weightsOnly`. Names,
 * metadata and all else stay as they are; so does a model that is quantised already. Branches and bodies of loops are
 * quantised too. With 16 bits nodes compute in float16 in place of float32, or only read weights of it.
 *
 * Throws FormatError for bytes that are no model, UsageError for bits or blocks that there are not.
 */
export function quantizeOnnx(bytes: Uint8Array, options: QuantizeOptions = {}): QuantizedOnnx {
  const checked = checkedOptions(options);
  const { model, graph } = readModel(bytes);
  const main = new GraphScope(graph);
  const edits = new ModelEdits(model, main);
  const { externalData } = checked;
  const byteLength = modelByteLength(bytes, main);
  const store = new TensorStore(byteLength > checked.maxByteLength ? checked.dataFile : undefined);
  const outputs = graph.output.map(({ name = '' }) => name);
  const wasQuantized = quantizedOperators(main);
  if (wasQuantized.length > 0) {
    const written = edits.write(bytes, store, externalData);
    const nothing = { layers: [], kept: [], others: {}, activations: [] };
    return { model: written, data: store.pieces, ...nothing, outputs, wasQuantized };
  }
  const opset = OperatorSets.of(model.opsetImport, 'ONNX model').version('');
  const found =
    checked.bits === 16
      ? convertToFloat16(edits, checked, opset)
      : roundWeights(new WeightCoder(edits, checked, opset));
  const written = edits.write(bytes, store, externalData);
  return { model: written, data: store.pieces, ...found, outputs, wasQuantized: [] };
}

function roundWeights(coder: WeightCoder): Found & Pick<QuantizedOnnx, 'activations'> {
  const found = roundNodes(coder);
  if (coder.options.weightsOnly) return { ...found, activations: [] };
  const activations = roundActivations(coder, new Set(found.layers.map(({ node }) => node)));
  return { ...found, activations };
}

/** Operators of quantised models, which nobody quantises twice. */
const QUANTIZED =
  /^(QuantizeLinear|DequantizeLinear|DynamicQuantize\w+|MatMulNBits|MatMulBnb4|MatMulInteger\w*|ConvInteger|QLinear\w+|QGemm|QAttention|QMoE|GatherBlockQuantized)$/;

function quantizedOperators(main: GraphScope): readonly string[] {
  const names = main.all().flatMap(({ graph }) => graph.node.map(({ opType = '' }) => opType));
  return [...new Set(names.filter((name) => QUANTIZED.test(name)))];
}

type Found = Pick<QuantizedOnnx, 'layers' | 'kept' | 'others'>;

function roundNodes(coder: WeightCoder): Found {
  const layers: QuantizedLayer[] = [];
  const kept: KeptNode[] = [];
  const others = new Map<string, number>();
  const { main } = coder.edits;
  for (const scope of main.all()) {
    for (const node of scope.graph.node) {
      const operator = node.opType ?? '';
      const name = nodeName(node);
      const isKept = coder.options.keep.has(name);
      const rounded = isKept
        ? 'it was asked to'
        : (roundNode(node, scope, coder) ?? reasonFor(node, scope));
      if (typeof rounded === 'string') kept.push({ node: name, operator, reason: rounded });
      else if (rounded === undefined) others.set(operator, (others.get(operator) ?? 0) + 1);
      else {
        const output = node.output.find((each) => each !== '') ?? '';
        const isInner = scope !== main;
        const isSampled = coder.options.moments?.reached(layerKey(node, scope));
        layers.push({ node: name, output, operator, ...rounded, isInner, isSampled });
      }
    }
  }
  return { layers, kept, others: Object.fromEntries(others) };
}

/** Undefined for operators without weights that could be rounded. */
function roundNode(
  node: NodeProto,
  scope: GraphScope,
  coder: WeightCoder,
): RoundedNode | string | undefined {
  if (canonicalDomain(node.domain) !== '') return undefined;
  const { opType = '' } = node;
  if (opType === 'Gemm') return quantizeGemm(node, scope, coder);
  if (opType === 'MatMul') {
    const axes = batchedAxes(node, scope);
    return axes.length > 0
      ? quantizeChannels(node, { scope, axes }, coder)
      : quantizeMatMul(node, scope, coder);
  }
  const axes = Object.hasOwn(WEIGHT_AXES, opType) ? WEIGHT_AXES[opType] : undefined;
  return axes && quantizeChannels(node, { scope, axes }, coder);
}

/** Constant operands of a product that MatMulNBits does not have: several matrices, or the first operand. */
function batchedAxes(
  { input }: NodeProto,
  scope: GraphScope,
): readonly (readonly [number, number])[] {
  const [a = '', b = ''] = input;
  const [left, right] = [scope.constantOf(a)?.shape, scope.constantOf(b)?.shape];
  if (right !== undefined) return right.length > 2 ? [[1, right.length - 1]] : [];
  return left !== undefined && left.length > 1 ? [[0, left.length - 2]] : [];
}

/** Tensors of fewer elements are no weights to speak of. */
const FEW_ELEMENTS = 256;

/** Why a node with large float constants stays as it is. */
function reasonFor(node: NodeProto, scope: GraphScope): string | undefined {
  const isLarge = node.input.some((name) => {
    const tensor = name === '' ? undefined : scope.constantOf(name)?.tensor;
    const count = tensor?.dims.reduce((product, dim) => product * dim, 1) ?? 0;
    return tensor !== undefined && isFloatTensor(tensor) && count >= FEW_ELEMENTS;
  });
  const isConstant = ['Identity', 'Reshape', 'Transpose'].includes(node.opType ?? '');
  return isLarge && !isConstant ? 'there is no form of it with codes' : undefined;
}

/** Bytes of a model with all tensors in it that lie in other files, before any is rounded: the result is not larger. */
function modelByteLength(bytes: Uint8Array, main: GraphScope): number {
  let beside = 0;
  for (const { graph } of main.all()) {
    const values = graph.node.flatMap(({ attribute }) => attribute.flatMap(({ t }) => t ?? []));
    for (const tensor of [...graph.initializer, ...values]) {
      if (isExternal(tensor)) beside += storedByteLength(tensor, `tensor "${tensor.name ?? ''}"`);
    }
  }
  return bytes.byteLength + beside;
}
