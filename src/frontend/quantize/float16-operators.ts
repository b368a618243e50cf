import { canonicalDomain, MICROSOFT } from '../onnx/model/operator-sets.ts';
import type { NodeProto } from '../onnx/protobuf/schema.ts';

/** Which inputs and outputs of an operator have the type that may be float16 in place of float32. */
interface Float16Places {
  /** Indices of these inputs. Undefined: all. */
  readonly inputs?: readonly number[];
  /** Indices of these outputs. Undefined: all. */
  readonly outputs?: readonly number[];
  /** Its inputs may have types that differ. */
  readonly isMixed?: boolean;
}

const ALL: Float16Places = {};
const FIRST: Float16Places = { inputs: [0] };
const FIRST_OF_BOTH: Float16Places = { inputs: [0], outputs: [0] };
const TO_FIRST: Float16Places = { outputs: [0] };
const COMPARED: Float16Places = { outputs: [] };

const alike = (names: string, places: Float16Places): readonly [string, Float16Places][] =>
  names.split(' ').map((name) => [name, places]);

/** ONNX's own operators, as its documentation of their types says. */
const OWN: ReadonlyMap<string, Float16Places> = new Map([
  ...alike(
    'Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax Identity LeakyRelu Log ' +
      'LogSoftmax LpNormalization LRN MeanVarianceNormalization Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh ' +
      'Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu',
    ALL,
  ),
  ...alike('Add Clip Div Max Mean Min Mod Mul PRelu Sub Sum', ALL),
  ...alike('Equal Greater GreaterOrEqual Less LessOrEqual', COMPARED),
  ...alike('AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool', ALL),
  ...alike('Conv ConvTranspose Einsum Gemm MatMul', ALL),
  ...alike('Concat DepthToSpace Flatten SpaceToDepth Transpose', ALL),
  ...alike('GroupNormalization InstanceNormalization RMSNormalization', ALL),
  // Sums of rows, and what trained batches leave behind, are float32 always.
  ...alike('BatchNormalization LayerNormalization', TO_FIRST),
  ...alike(
    'Compress Expand Gather GatherElements GatherND Reshape Resize ReverseSequence Slice Split Squeeze Tile Trilu Unsqueeze Upsample',
    FIRST,
  ),
  ...alike(
    'ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare',
    FIRST,
  ),
  ...alike('Dropout MaxPool TopK', FIRST_OF_BOTH),
  ...alike('ArgMax ArgMin', { inputs: [0], outputs: [] }),
  ...alike('Pow', { isMixed: true }),
  ...alike('Where', { inputs: [1, 2] }),
  ...alike('Pad ScatterElements ScatterND', { inputs: [0, 2] }),
  // All but the lengths of sequences.
  ...alike('GRU LSTM RNN', { inputs: [0, 1, 2, 3, 5, 6, 7] }),
]);

/** Operators that ONNX Runtime makes of ONNX's own when it optimises a model. */
const MICROSOFTS: ReadonlyMap<string, Float16Places> = new Map(
  alike('BiasGelu FastGelu FusedMatMul Gelu QuickGelu', ALL),
);

/** Undefined for operators that stay in float32. */
export function float16Places({ domain, opType = '' }: NodeProto): Float16Places | undefined {
  const canonical = canonicalDomain(domain);
  if (canonical === '') return OWN.get(opType);
  return canonical === MICROSOFT ? MICROSOFTS.get(opType) : undefined;
}
