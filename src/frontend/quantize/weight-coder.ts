import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { MICROSOFT } from '../onnx/model/operator-sets.ts';
import type { NodeProto, TensorProto } from '../onnx/protobuf/schema.ts';
import { codeBlocks } from './code-blocks.ts';
import { decodeBlocks } from './decode-blocks.ts';
import { codeChannels, decodeChannels } from './channel-codes.ts';
import {
  type FloatWeights,
  floatTensor,
  floatWeights,
  relativeError,
  roundTo,
  transposed,
  type WeightDType,
} from './float-weights.ts';
import type { FoundConstant, GraphScope } from './graph-scope.ts';
import { intAttribute, type ModelEdits, type NodeDraft } from './model-edits.ts';
import type { CheckedOptions } from './quantize-options.ts';
import { layerKey, nodeName } from './quantized-layer.ts';

/** The names of a matrix's codes in the model, and its sizes. */
export interface CodedMatrix {
  /** Codes, scales and, where blocks have one, zero points. */
  readonly inputs: readonly string[];
  readonly depth: number;
  readonly columns: number;
  readonly weightError: number;
}

/** The replacement of weights in a graph by codes with a scale for each channel. */
interface CodedChannels {
  /** The value that takes the place of the weights. */
  readonly output: string;
  /** The node that gives it; undefined where another one's node gave it before. */
  readonly node: NodeDraft | undefined;
  readonly scales: Float32Array;
  readonly weightError: number;
}

interface StoredChannels {
  readonly dtype: WeightDType;
  readonly inputs: readonly string[];
  readonly scales: Float32Array;
  readonly weightError: number;
}

/** Rounds weights and adds them to the model, those that several nodes read once. */
export class WeightCoder {
  readonly edits: ModelEdits;
  readonly options: CheckedOptions;
  /** The version of ONNX's own operator set. */
  readonly opset: number;
  readonly #matrices = new Map<string, CodedMatrix | string>();
  readonly #channels = new Map<string, StoredChannels | string>();
  readonly #dequantized = new Map<string, string>();
  readonly #ids = new Map<object, number>();

  constructor(edits: ModelEdits, options: CheckedOptions, opset: number) {
    this.edits = edits;
    this.options = options;
    this.opset = opset;
  }

  /** A matrix in blocks along its depth, as MatMulNBits has it, times a factor; or why it stays. */
  matrix(found: FoundConstant, { node, scope, hasRows, factor }: MatrixOf): CodedMatrix | string {
    return kept(this.#matrices, this.#key(found.tensor, hasRows, factor, ...found.shape), () => {
      const weights = floatWeights(found, this.options.externalData);
      if (typeof weights === 'string') return weights;
      return this.#codeMatrix(weights, { found, node, scope, hasRows, factor });
    });
  }

  /** A tensor of int8 with a scale for each index of an axis, and the node that makes floats of it; or why it stays. */
  channels(
    found: FoundConstant,
    { node, scope, axis }: { node: NodeProto; scope: GraphScope; axis: number },
  ): CodedChannels | string {
    const key = this.#key(found.tensor, axis, ...found.shape);
    const stored = kept(this.#channels, key, () => {
      if (found.isTransposed) return 'a node transposes its weights';
      const weights = floatWeights(found, this.options.externalData);
      if (typeof weights === 'string') return weights;
      return this.#codeChannels(weights, { found, node, scope, axis });
    });
    if (typeof stored === 'string') return stored;
    const { scales, weightError } = stored;
    const place = `${key} in ${this.#key(scope)}`;
    const known = this.#dequantized.get(place);
    if (known !== undefined) return { output: known, node: undefined, scales, weightError };
    const base = baseName(found.tensor, node);
    const output = this.edits.uniqueName(`${base}_dequantized`);
    this.#dequantized.set(place, output);
    const inputs = stored.inputs;
    const draft = this.dequantizeNode({ inputs, output, axis, dtype: stored.dtype });
    return { output, node: draft, scales, weightError };
  }

  /** A node that makes floats of codes; with an axis, where each index of it has a scale. */
  dequantizeNode({
    inputs,
    output,
    axis,
    dtype,
  }: {
    readonly inputs: readonly string[];
    readonly output: string;
    readonly axis?: number;
    readonly dtype: WeightDType;
  }): NodeDraft {
    return {
      name: this.edits.uniqueName(`${output}_DequantizeLinear`),
      opType: 'DequantizeLinear',
      domain: this.quantizationDomain(dtype),
      input: inputs,
      output: [output],
      attribute: axis === undefined ? [] : [intAttribute('axis', axis)],
    };
  }

  /**
   * The domain of QuantizeLinear and DequantizeLinear. Scales of channels are in ONNX's own since version 13, scales of
   * float16 since 19; Microsoft's have both beside any version.
   */
  quantizationDomain(dtype: WeightDType): string {
    if (this.opset >= SCALES_SINCE[dtype]) return '';
    this.edits.importOpset(MICROSOFT, 1);
    return MICROSOFT;
  }

  #codeMatrix(
    { dtype, shape, values }: FloatWeights,
    { found, node, scope, hasRows, factor }: MatrixPlace,
  ): CodedMatrix | string {
    const [first = 0, second = 0] = shape;
    const [columns, depth] = hasRows ? [first, second] : [second, first];
    const { block: blockSize, symmetric: isSymmetric } = this.options;
    const bits = this.options.bits === 4 ? 4 : 8;
    const blocks = Math.ceil(depth / blockSize);
    const size = dtype === 'float16' ? 2 : 4;
    const codedLength = columns * blocks * ((blockSize * bits) / 8 + size);
    if (codedLength >= values.length * size) return 'its codes would take no less than its weights';
    const rows = hasRows ? values : transposed(values, depth, columns);
    const scaled = factor === 1 ? rows : rows.map((value) => value * factor);
    const feedback = this.options.moments?.feedback(layerKey(node, scope));
    const coded = codeBlocks(scaled, depth, {
      bits,
      blockSize,
      isSymmetric,
      roundScale: roundTo(dtype),
      feedback,
    });
    const { codes, scales, zeros } = coded;
    const shapeOfCodes = [columns, blocks, (blockSize * bits) / 8];
    const base = baseName(found.tensor, node);
    const inputs = [
      this.#add(found.scope, `${base}_Q${bits}`, new HostTensor('uint8', shapeOfCodes, codes)),
      this.#add(found.scope, `${base}_scales`, floatTensor(dtype, [columns * blocks], scales)),
    ];
    if (zeros) {
      const tensor = new HostTensor('uint8', [zeros.length], zeros);
      inputs.push(this.#add(found.scope, `${base}_zeros`, tensor));
    }
    this.edits.importOpset(MICROSOFT, 1);
    return { inputs, depth, columns, weightError: relativeError(scaled, decodeBlocks(coded)) };
  }

  #codeChannels(
    { dtype, shape, values }: FloatWeights,
    { found, node, scope, axis }: ChannelsPlace,
  ): StoredChannels | string {
    const size = dtype === 'float16' ? 2 : 4;
    const count = shape[axis] ?? 1;
    if (elementCount(shape) + count * size >= values.length * size) {
      return 'its codes would take no less than its weights';
    }
    const { moments } = this.options;
    const rowsOfGroup = count / (moments?.groups(layerKey(node, scope)) ?? 1);
    const coded = codeChannels(values, {
      shape,
      axis,
      // Only rows of convolutions are multiplied by vectors of their inputs.
      feedback: (channel) =>
        node.opType === 'Conv'
          ? moments?.feedback(layerKey(node, scope), Math.floor(channel / rowsOfGroup))
          : undefined,
      cancels: node.opType?.startsWith('Conv') ?? false,
      roundScale: roundTo(dtype),
    });
    const base = baseName(found.tensor, node);
    const inputs = [
      this.#add(found.scope, `${base}_int8`, new HostTensor('int8', shape, coded.codes)),
      this.#add(found.scope, `${base}_scales`, floatTensor(dtype, [count], coded.scales)),
      this.#add(found.scope, `${base}_zeros`, HostTensor.zeros('int8', [count])),
    ];
    const weightError = relativeError(values, decodeChannels(coded, { shape, axis }));
    return { dtype, inputs, scales: coded.scales, weightError };
  }

  #add(scope: GraphScope, wanted: string, tensor: HostTensor): string {
    const name = this.edits.uniqueName(wanted);
    this.edits.addInitializer(scope, name, tensor);
    return name;
  }

  /** A text that is the same for the same object and settings. */
  #key(object: object, ...settings: readonly (number | boolean)[]): string {
    const id = this.#ids.get(object) ?? this.#ids.size;
    this.#ids.set(object, id);
    return [id, ...settings].join(' ');
  }
}

/** The operator set whose DequantizeLinear has scales of a dtype, one for each channel. */
const SCALES_SINCE: Readonly<Record<WeightDType, number>> = { float32: 13, float16: 19 };

/** The node that reads weights first, and the graph that it lies in. */
interface ReaderOfWeights {
  readonly node: NodeProto;
  readonly scope: GraphScope;
}

interface ChannelsPlace extends ReaderOfWeights {
  readonly found: FoundConstant;
  readonly axis: number;
}

interface MatrixOf extends ReaderOfWeights {
  /** True if rows of the matrix are columns of the product. */
  readonly hasRows: boolean;
  readonly factor: number;
}

interface MatrixPlace extends MatrixOf {
  readonly found: FoundConstant;
}

const baseName = ({ name }: TensorProto, node: NodeProto): string =>
  name === undefined || name === '' ? nodeName(node) : name;

function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  known.set(key, made);
  return made;
}
