import { canonicalDomain, OperatorSets, MICROSOFT } from '../onnx/model/operator-sets.ts';
import { isExternal } from '../onnx/protobuf/external-data.ts';
import { readModel } from '../onnx/protobuf/read-model.ts';
import type { NodeProto } from '../onnx/protobuf/schema.ts';
import { storedByteLength } from '../onnx/protobuf/tensor-data.ts';
import { convertToFloat16 } from './convert-to-float16.ts';
import { isFloatTensor, floatTensor, floatWeights } from './float-weights.ts';
import { GraphScope } from './graph-scope.ts';
import { ModelEdits, type WrittenNode, intAttribute } from './model-edits.ts';
import { checkedOptions, type QuantizeOptions } from './quantize-options.ts';
import { type KeptNode, layerKey, nodeName, type QuantizedLayer } from './quantized-layer.ts';
import { roundActivations } from './round-activations.ts';
import { TensorStore } from './tensor-store.ts';
import { WeightCoder, type CodedMatrix } from './weight-coder.ts';

/** The replacement of a node, in words, and the relative error of its weights. */
interface RoundedNode {
  readonly becomes: string;
  readonly weightError: number;
}

const floatOf = ({ attribute }: NodeProto, name: string): number =>
  attribute.find((each) => each.name === name)?.f ?? 1;

const flagOf = ({ attribute }: NodeProto, name: string): boolean =>
  (attribute.find((each) => each.name === name)?.i ?? 0n) !== 0n;

/** `MatMul` by a constant matrix as `MatMulNBits`; or why it stays as it is. */
function quantizeMatMul(
  node: NodeProto,
  scope: GraphScope,
  coder: WeightCoder,
): RoundedNode | string {
  const [, weights = ''] = node.input;
  const found = scope.constantOf(weights);
  if (found === undefined) return NOT_CONSTANT;
  const matrix = coder.matrix(found, { node, scope, hasRows: found.isTransposed, factor: 1 });
  if (typeof matrix === 'string') return matrix;
  coder.edits.replace(node, [productOf(node, { coder, matrix, output: node.output })]);
  coder.edits.release(weights);
  return roundedTo(coder, matrix);
}

/** `Gemm` by a constant matrix as `MatMulNBits` and, with a bias, `Add`; or why it stays as it is. */
function quantizeGemm(
  node: NodeProto,
  scope: GraphScope,
  coder: WeightCoder,
): RoundedNode | string {
  const [, weights = '', bias = ''] = node.input;
  const found = scope.constantOf(weights);
  if (found === undefined) return NOT_CONSTANT;
  if (flagOf(node, 'transA')) return 'its first operand is transposed';
  const beta = floatOf(node, 'beta');
  const scaledBias = bias === '' || beta === 0 ? '' : biasTimes(beta, { node, bias, scope, coder });
  if (scaledBias === undefined) return 'its bias is computed and has a factor';
  const hasRows = found.isTransposed !== flagOf(node, 'transB');
  const matrix = coder.matrix(found, { node, scope, hasRows, factor: floatOf(node, 'alpha') });
  if (typeof matrix === 'string') return matrix;
  const { edits } = coder;
  const [output = ''] = node.output;
  const product = scaledBias === '' ? output : edits.uniqueName(`${output}_product`);
  const written: WrittenNode[] = [productOf(node, { coder, matrix, output: [product] })];
  if (scaledBias !== '') {
    const name = edits.uniqueName(`${nodeName(node)}_bias`);
    const add = { name, opType: 'Add', input: [product, scaledBias], output: [output] };
    written.push({ draft: add });
  }
  edits.replace(node, written);
  edits.release(weights);
  if (scaledBias !== bias) edits.release(bias);
  return roundedTo(coder, matrix);
}

const NOT_CONSTANT = 'both of its operands are computed';

interface BiasPlace {
  readonly node: NodeProto;
  readonly bias: string;
  readonly scope: GraphScope;
  readonly coder: WeightCoder;
}

/** The name of a bias times a factor; undefined where it is no constant. */
function biasTimes(beta: number, { node, bias, scope, coder }: BiasPlace): string | undefined {
  if (beta === 1) return bias;
  const found = scope.constantOf(bias);
  if (found === undefined || found.isTransposed) return undefined;
  const weights = floatWeights(found, coder.options.externalData);
  if (typeof weights === 'string') return undefined;
  const { dtype, shape, values } = weights;
  const name = coder.edits.uniqueName(`${nodeName(node)}_scaled_bias`);
  const scaled = values.map((value) => value * beta);
  coder.edits.addInitializer(found.scope, name, floatTensor(dtype, shape, scaled));
  return name;
}

interface ProductPlace {
  readonly coder: WeightCoder;
  readonly matrix: CodedMatrix;
  readonly output: readonly string[];
}

/** The node with another operator and its weights as codes; what it says beside stays. */
function productOf(base: NodeProto, { coder, matrix, output }: ProductPlace): WrittenNode {
  const { bits, block } = coder.options;
  const attribute = [
    intAttribute('K', matrix.depth),
    intAttribute('N', matrix.columns),
    intAttribute('bits', bits),
    intAttribute('block_size', block),
  ];
  const input = [base.input[0] ?? '', ...matrix.inputs];
  const draft = { opType: 'MatMulNBits', domain: MICROSOFT, input, output, attribute };
  return { base, draft };
}

function roundedTo({ options }: WeightCoder, { weightError }: CodedMatrix): RoundedNode {
  const { bits, block } = options;
  return { becomes: `MatMulNBits, ${bits} bits in blocks of ${block}`, weightError };
}

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
