import type { Expr } from '../../../compiler/ir/expr.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { LiteImporter } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import type { LiteTensor } from '../reader/read-model.ts';
import { scalesOf } from './scales.ts';

/** Operators that read codes themselves, or whatever elements they get. */
const OWN: ReadonlySet<string> = new Set(
  'CAST BITCAST DENSIFY DEQUANTIZE QUANTIZE IF WHILE SHAPE RANK ZEROS_LIKE'.split(' '),
);

/** Operators that move elements or compare them: of codes as they do of numbers, where all have the same scale. */
const MOVES: ReadonlySet<string> = new Set(
  (
    'ARG_MAX ARG_MIN BATCH_TO_SPACE_ND BROADCAST_TO CONCATENATION DEPTH_TO_SPACE DYNAMIC_UPDATE_SLICE EXPAND_DIMS ' +
    'FILL GATHER GATHER_ND MAXIMUM MAX_POOL_2D MINIMUM MIRROR_PAD PACK PAD REDUCE_MAX REDUCE_MIN RESHAPE ' +
    'RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 SELECT SELECT_V2 SLICE SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT ' +
    'SPLIT_V SQUEEZE STRIDED_SLICE TILE TOPK_V2 TRANSPOSE UNPACK'
  ).split(' '),
);

/** Codes of the element types that stand for numbers by a scale: uint8, int16, int8, uint16 and int4. */
const CODES: ReadonlySet<number> = new Set([3, 7, 9, 16, 17]);

/** Where operators have a bias, whose integers are of 32 or 64 bits. */
const BIAS: Readonly<Record<string, number>> = {
  CONV_2D: 2,
  CONV_3D: 2,
  DEPTHWISE_CONV_2D: 2,
  FULLY_CONNECTED: 2,
  TRANSPOSE_CONV: 3,
};

const hasCodes = (tensor: LiteTensor | undefined): tensor is LiteTensor =>
  tensor?.quantization !== undefined && CODES.has(tensor.type);

const keyOf = ({ quantization }: LiteTensor): string =>
  JSON.stringify([quantization?.scale, quantization?.zero]);

/**
 * Imports an operator. One of codes computes with the numbers that these stand for, and rounds its results to codes again:
 * a sum of products of codes is exact in float32 up to 2^24 steps of its scale, and the nearest code beyond.
 */
export function importCodes(
  importer: LiteImporter,
  node: LiteNode,
): Expr | readonly (Expr | undefined)[] {
  const { name } = node.operator;
  const tensors = [...node.inputTensors, ...node.outputTensors].filter(hasCodes);
  if (tensors.length === 0 || OWN.has(name)) return importer.import(node);
  const isSame = new Set(tensors.map(keyOf)).size === 1;
  const isActivated = name === 'CONCATENATION' || name === 'MAX_POOL_2D';
  if (MOVES.has(name) && isSame && !(isActivated && hasActivation(node))) {
    return importer.import(node);
  }
  const inputs = node.inputs.map((input, i) => input && numbersOf(node, input, i));
  const results = importer.import(node.withInputs(inputs));
  const values = 'kind' in results ? [results] : results;
  return values.map((value, i) => value && codesOf(node, value, i));
}

function hasActivation(node: LiteNode): boolean {
  const { name } = node.operator;
  const { activation } =
    name === 'CONCATENATION' ? node.options('concatenation') : node.options('pool2d');
  return activation !== 0;
}

/** An input as floats, where it has codes. */
function numbersOf(node: LiteNode, input: Expr, index: number): Expr {
  const tensor = node.inputTensors[index];
  if (BIAS[node.operator.name] === index && tensor?.quantization !== undefined) {
    return biasOf(node, input, tensor.quantization.scale);
  }
  if (!hasCodes(tensor)) return input;
  const { scale, zero } = scalesOf(node, input, tensor);
  return node.call('dequantize', [input, scale, zero]);
}

/** A bias: its integers times a scale, or one for each. */
function biasOf(node: LiteNode, bias: Expr, scale: readonly number[]): Expr {
  const { dtype } = node.type(bias);
  if (dtype !== 'int32' && dtype !== 'int64') return bias;
  const shape = scale.length === 1 ? [] : [scale.length];
  const scales = node.constant(HostTensor.from('float32', shape, scale));
  return node.call('mul', [node.cast(bias, 'float32'), scales]);
}

/** A result as codes, where the output has them. */
function codesOf(node: LiteNode, value: Expr, index: number): Expr {
  const tensor = node.outputTensors[index];
  if (!hasCodes(tensor)) return value;
  if (node.type(value).dtype !== 'float32') return value;
  return quantized(node, value, tensor);
}

/** Floats as codes of a tensor. */
export function quantized(node: LiteNode, value: Expr, tensor: LiteTensor): Expr {
  const { scale, zero } = scalesOf(node, value, tensor, node.dtypeOf(tensor.type));
  return node.call('quantize', [value, scale, zero]);
}
