import cellShader from '../../../shaders/recurrent-cell.wgsl?raw';
import stepShader from '../../../shaders/recurrent-step.wgsl?raw';
import workgroupShader from '../../../shaders/recurrent-workgroup.wgsl?raw';
import { boolAttribute, floatAttribute, stringAttribute } from '../attributes.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import {
  storeOutput,
  invocationGrid,
  readInputs,
  perInvocation,
} from '../lowering/element-kernel.ts';
import { f32, type KernelSpec, type LoweringCall, u32 } from '../lowering/lowering.ts';
import { activationsOf, CELLS, cellOf, type RecurrentSizes, sizesOf } from './recurrent-cell.ts';
import { wgslLiteral } from '../lowering/wgsl-literal.ts';
import type { ActivationCall, ActivationName } from './activations.ts';

/** Up to here one workgroup reads the recurrent weights about as fast as the whole GPU would. */
const MAX_WORKGROUP_HIDDEN = 256;

/** One workgroup for each sequence where states are small, else a launch for each step. */
export function lowerRecurrent(call: LoweringCall): readonly KernelSpec[] {
  const sizes = sizesOf(call.inputs, call.attributes);
  const { gates } = CELLS[cellOf(call.attributes)];
  const words = (2 + gates) * sizes.hidden;
  const { adapterClass, maxComputeWorkgroupStorageSize } = call.caps;
  const fits = words * 4 <= maxComputeWorkgroupStorageSize && sizes.hidden <= MAX_WORKGROUP_HIDDEN;
  if (adapterClass !== 'software' && fits && sizes.hidden > 0) return [byWorkgroup(call, sizes)];
  return bySteps(call, sizes);
}

function byWorkgroup(call: LoweringCall, sizes: RecurrentSizes): KernelSpec {
  const { steps, batch, directions, hidden } = sizes;
  const { gates } = CELLS[cellOf(call.attributes)];
  const grid = foldGroups(directions * batch, call.caps);
  const lanes = Math.min(256, call.caps.maxComputeInvocationsPerWorkgroup);
  return {
    name: 'recurrent-workgroup',
    source: sourceOf(call) + workgroupShader,
    constants: { ...constantsOf(call), HIDDEN: hidden, GATES: gates * hidden },
    params: {
      steps: u32(steps),
      batch: u32(batch),
      directions: u32(directions),
      hidden: u32(hidden),
      row_length: u32(grid.rowLength),
      clip: f32(floatAttribute(call.attributes, 'clip')),
    },
    workgroupSize: [lanes, 1, 1],
    workgroups: grid.workgroups,
    reads: READS,
    writes: storeOutput(),
  };
}

function bySteps(call: LoweringCall, sizes: RecurrentSizes): readonly KernelSpec[] {
  const { steps, batch, directions, hidden } = sizes;
  const cell = cellOf(call.attributes);
  const count = directions * batch * hidden;
  const grid = invocationGrid(count, call.caps);
  const state = { kind: 'scratch', index: 0, byteLength: Math.max(4, count * 12) } as const;
  const resetsEarly = cell === 'gru' && !boolAttribute(call.attributes, 'linear_before_reset');
  const kernel = (phase: number, step: number): KernelSpec => ({
    ...grid,
    name: 'recurrent-step',
    source: sourceOf(call) + perInvocation(stepShader),
    constants: { ...constantsOf(call), GATE_COUNT: CELLS[cell].gates, PHASE: phase },
    params: {
      steps: u32(steps),
      batch: u32(batch),
      hidden: u32(hidden),
      ...grid.params,
      clip: f32(floatAttribute(call.attributes, 'clip')),
      step: u32(step),
      source: u32((step % 2) * count),
    },
    reads: [...READS, { hook: 'state', from: state, width: 1 }],
    writes: [...storeOutput(), { hook: 'state', to: state, width: 1 }],
  });
  const phases = resetsEarly ? [1, 2] : [2];
  return [
    kernel(0, 0),
    ...Array.from({ length: steps }, (_, step) =>
      phases.map((phase) => kernel(phase, step)),
    ).flat(),
  ];
}

const READS = readInputs('x', 'r', 'initial', 'vectors', 'lengths');

const REVERSE_FROM: Readonly<Record<string, number>> = { forward: 2, reverse: 0, bidirectional: 1 };

function constantsOf({ attributes, inputs }: LoweringCall): KernelSpec['constants'] {
  return {
    CELL: Object.keys(CELLS).indexOf(cellOf(attributes)),
    HAS_CLIP: floatAttribute(attributes, 'clip') > 0,
    HAS_VECTORS: inputs[3] !== undefined,
    HAS_LENGTHS: inputs[4] !== undefined,
    IS_RESET_LATE: boolAttribute(attributes, 'linear_before_reset'),
    IS_COUPLED: boolAttribute(attributes, 'input_forget'),
    REVERSE_FROM: REVERSE_FROM[stringAttribute(attributes, 'direction')] ?? 2,
  };
}

function sourceOf({ attributes }: LoweringCall): string {
  const text = activationsWgsl(activationsOf(attributes));
  // The equations name the activations of every cell.
  const count = CELLS[cellOf(attributes)].activations;
  const rest = [0, 1, 2]
    .slice(count)
    .map((k) => `fn activate_${k}(d: u32, x: f32) -> f32 { return x; }\n`);
  return text + rest.join('') + cellShader;
}

/** A WGSL expression of the f32 expressions x, alpha and beta. */
type Expression = (x: string, alpha: string, beta: string) => string;

// Implementations divide exponentials, which overflow from 88 on; beyond 10 the result is 1.
const tanh = (x: string): string => `select(tanh(${x}), sign(${x}), abs(${x}) > 10.0)`;

/** WGSL's functions may leave a NaN out. */
const guarded =
  (expression: Expression): Expression =>
  (x, alpha, beta) =>
    `select(${expression(x, alpha, beta)}, ${x}, (bitcast<u32>(${x}) & 0x7fffffffu) > 0x7f800000u)`;

const EXPRESSIONS: Readonly<Record<ActivationName, Expression>> = {
  Affine: (x, alpha, beta) => `${alpha} * ${x} + ${beta}`,
  Elu: (x, alpha) => `select(${x}, ${alpha} * (exp(min(${x}, 0.0)) - 1.0), ${x} < 0.0)`,
  HardSigmoid: guarded((x, alpha, beta) => `clamp(${alpha} * ${x} + ${beta}, 0.0, 1.0)`),
  LeakyRelu: (x, alpha) => `select(${x}, ${alpha} * ${x}, ${x} < 0.0)`,
  Relu: (x) => `select(${x}, 0.0, ${x} < 0.0)`,
  ScaledTanh: (x, alpha, beta) => `${alpha} * ${tanh(`(${beta} * ${x})`)}`,
  Sigmoid: guarded((x) => `1.0 / (1.0 + exp(min(-${x}, 88.0)))`),
  Softplus: guarded((x) => `max(${x}, 0.0) + log(1.0 + exp(-abs(${x})))`),
  Softsign: (x) => `${x} / (1.0 + abs(${x}))`,
  Tanh: tanh,
  ThresholdedRelu: (x, alpha) => `select(0.0, ${x}, ${x} >= ${alpha})`,
};

function expression({ name, alpha, beta }: ActivationCall): string {
  const literal = (value: number): string => wgslLiteral(value, 'float32', 1);
  return EXPRESSIONS[name as ActivationName]('x', literal(alpha), literal(beta));
}

/** `fn activate_K(direction: u32, x: f32) -> f32` for each K, from the activations of each direction. */
function activationsWgsl(directions: readonly (readonly ActivationCall[])[]): string {
  const [forward = [], backward = []] = directions.map((calls) => calls.map(expression));
  return forward
    .map((first, k) => {
      const other = backward[k] ?? first;
      const branch = other === first ? '' : `  if (direction == 1u) { return ${other}; }\n`;
      return `fn activate_${k}(direction: u32, x: f32) -> f32 {\n${branch}  return ${first};\n}\n`;
    })
    .join('');
}
