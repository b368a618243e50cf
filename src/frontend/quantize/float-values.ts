import { canonicalDomain, MICROSOFT } from '../onnx/model/operator-sets.ts';
import type { AttributeProto, NodeProto } from '../onnx/protobuf/schema.ts';
import type { GraphScope } from './graph-scope.ts';

/** The element types of ONNX's float32 and float16. */
export const FLOAT32 = 1;
export const FLOAT16 = 10;

/** Inputs of a node that are values of the graph and, with its operator's `places`, may be float16. */
export function placesOf(
  names: readonly string[],
  places: readonly number[] | undefined,
): readonly number[] {
  return [...names.keys()].filter((i) => names[i] !== '' && (places?.includes(i) ?? true));
}

/**
 * The values of the main graph that are float32, as far as inputs, constants and the operators say that
 * {@link float16Places} knows. What else computes floats stays as it is, and so does what reads it.
 */
export function floatValues({ graph }: GraphScope): ReadonlySet<string> {
  const values = new Set<string>();
  const typed = [...graph.input, ...graph.output];
  for (const { name = '', type } of typed) {
    if (type?.tensorType?.elemType === FLOAT32) values.add(name);
  }
  for (const { name = '', dataType } of graph.initializer) {
    if (dataType === FLOAT32) values.add(name);
  }
  // Nodes come in the order of their values; a file that is not in order takes some rounds.
  for (let known = -1; known < values.size; ) {
    known = values.size;
    for (const node of graph.node) addValues(node, values);
  }
  return values;
}

function addValues(node: NodeProto, values: Set<string>): void {
  if (makesFloat32(node)) {
    values.add(node.output[0] ?? '');
    return;
  }
  const places = float16Places(node);
  if (places === undefined) return;
  const inputs = placesOf(node.input, places.inputs).map((i) => node.input[i] ?? '');
  const outputs = placesOf(node.output, places.outputs).map((i) => node.output[i] ?? '');
  // They have one type, that of the first input.
  const typed =
    places.isMixed === true ? [...inputs.slice(0, 1), ...outputs] : [...inputs, ...outputs];
  if (typed.some((name) => values.has(name))) for (const name of typed) values.add(name);
}

function makesFloat32({ domain, opType, attribute }: NodeProto): boolean {
  if (canonicalDomain(domain) !== '') return false;
  const find = (wanted: string): AttributeProto | undefined =>
    attribute.find(({ name }) => name === wanted);
  if (opType === 'Constant') {
    return (
      find('value')?.t?.dataType === FLOAT32 ||
      find('value_float') !== undefined ||
      find('value_floats') !== undefined
    );
  }
  if (opType === 'Cast') return Number(find('to')?.i) === FLOAT32;
  if (opType !== 'ConstantOfShape') return false;
  const value = find('value')?.t;
  return value === undefined || value.dataType === FLOAT32;
}

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
