import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { boolAttribute, floatAttribute, stringAttribute } from '../attributes.ts';
import { type FloatArray, floatElements } from '../elements.ts';
import type { Operands } from '../lowering/lowering.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand } from '../operand-checks.ts';
import type { ActivationName } from './activations.ts';
import { activationsOf, type CellName, cellOf, CELLS, sizesOf } from './recurrent-cell.ts';

/** A function of one number, alpha and beta. */
type HostActivation = (x: number, alpha: number, beta: number) => number;

const FUNCTIONS = {
  Affine: (x, alpha, beta) => alpha * x + beta,
  Elu: (x, alpha) => (x < 0 ? alpha * Math.expm1(x) : x),
  HardSigmoid: (x, alpha, beta) => Math.min(Math.max(alpha * x + beta, 0), 1),
  LeakyRelu: (x, alpha) => (x < 0 ? alpha * x : x),
  Relu: (x) => (x < 0 ? 0 : x),
  ScaledTanh: (x, alpha, beta) => alpha * Math.tanh(beta * x),
  Sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  Softplus: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  Softsign: (x) => x / (1 + Math.abs(x)),
  Tanh: (x) => Math.tanh(x),
  ThresholdedRelu: (x, alpha) => (x >= alpha ? x : 0),
} satisfies Readonly<Record<ActivationName, HostActivation>>;

const HOST_ACTIVATIONS: Readonly<Record<string, HostActivation>> = FUNCTIONS;

type Activate = (x: number) => number;

/** The inputs of a cell for one unit in one step. */
interface Step {
  /** An input of a gate, projected. */
  readonly x: (gate: number) => number;
  /** A gate's product with the states. */
  readonly product: (gate: number) => number;
  /** A gate's product with what the reset gate leaves of the states. */
  readonly keptProduct: (gate: number) => number;
  /** An element of the vectors, times a state; 0 where there are none. */
  readonly vector: (row: number, state?: number) => number;
  readonly h: number;
  readonly c: number;
}

interface CellOptions {
  readonly activate: readonly Activate[];
  readonly isLate: boolean;
  readonly isCoupled: boolean;
}

const EQUATIONS: Readonly<
  Record<CellName, (step: Step, options: CellOptions) => readonly [number, number]>
> = {
  rnn: ({ x, product, c }, { activate: [f = same] }) => [f(x(0) + product(0)), c],
  gru({ x, product, keptProduct, vector, h, c }, { activate: [f = same, g = same], isLate }) {
    const keep = f(x(0) + product(0));
    const recurrent = isLate ? f(x(1) + product(1)) * (product(2) + vector(0)) : keptProduct(2);
    return [(1 - keep) * g(x(2) + recurrent) + keep * h, c];
  },
  lstm({ x, product, vector, c }, { activate: [f = same, g = same, h = same], isCoupled }) {
    const input = f(x(0) + product(0) + vector(0, c));
    const forget = isCoupled ? 1 - input : f(x(2) + product(2) + vector(2, c));
    const cell = forget * c + input * g(x(3) + product(3));
    const output = f(x(1) + product(1) + vector(1, cell));
    return [output * h(cell), cell];
  },
};

const same: Activate = (x) => x;

/** Computes in double precision, one sequence and direction after the other. */
export const recurrentReference: StaticReference = {
  reference(inputs, attributes, output) {
    const { steps, batch, directions, hidden } = sizesOf(inputs, attributes);
    const direction = stringAttribute(attributes, 'direction');
    const clip = floatAttribute(attributes, 'clip');
    const limit = (x: number): number => (clip > 0 ? Math.min(Math.max(x, -clip), clip) : x);
    const activations = activationsOf(attributes);
    const lengths = inputs[4]?.data;
    for (let d = 0; d < directions; d++) {
      const activate = (activations[d] ?? []).map(({ name, alpha, beta }): Activate => {
        const activation = HOST_ACTIVATIONS[name];
        return (x) => activation?.(limit(x), alpha, beta) ?? x;
      });
      for (let sequence = 0; sequence < batch; sequence++) {
        const length = Math.min(Math.max(Number(lengths?.[sequence] ?? steps), 0), steps);
        const isReverse = direction === 'reverse' || d === 1;
        runSequence(inputs, attributes, {
          y: floatElements(output),
          places: Array.from({ length }, (_, i) => (isReverse ? length - 1 - i : i)),
          d,
          sequence,
          hidden,
          activate,
        });
      }
    }
  },
};

interface SequenceRun {
  readonly y: FloatArray;
  readonly places: readonly number[];
  readonly d: number;
  readonly sequence: number;
  readonly hidden: number;
  readonly activate: readonly Activate[];
}

function runSequence(
  inputs: Operands<HostTensor>,
  attributes: Attributes,
  { y, places, d, sequence, hidden, activate }: SequenceRun,
): void {
  const { steps, batch, directions } = sizesOf(inputs, attributes);
  const cell = cellOf(attributes);
  const { gates, states, vectors: rows } = CELLS[cell];
  const [x, initial] = [0, 2].map((i) => floatElements(operand(inputs, i)));
  const r = floatElements(operand(inputs, 1));
  const vectors = inputs[3] === undefined ? undefined : floatElements(inputs[3]);
  const width = gates * hidden;
  const group = d * batch + sequence;
  const count = directions * batch * hidden;
  const options = {
    activate,
    isLate: boolAttribute(attributes, 'linear_before_reset'),
    isCoupled: boolAttribute(attributes, 'input_forget'),
  };
  const state = (s: number): Float64Array =>
    Float64Array.from(
      { length: hidden },
      (_, j) => initial?.[(s * directions * batch + group) * hidden + j] ?? 0,
    );
  const [h, c] = [state(0), states > 1 ? state(1) : new Float64Array(hidden)];
  for (let t = 0; t < steps; t++) {
    const start = t * count + group * hidden;
    y.fill(0, start, start + hidden);
  }
  for (const t of places) {
    const row = ((t * batch + sequence) * directions + d) * width;
    const before = h.slice();
    const sums = products(before, { r, d, hidden, width });
    const f = activate[0] ?? same;
    const kept = before.map((value, k) =>
      cell === 'gru' ? f((x?.[row + hidden + k] ?? 0) + (sums[hidden + k] ?? 0)) * value : 0,
    );
    const keptSums =
      cell === 'gru' && !options.isLate ? products(kept, { r, d, hidden, width }) : sums;
    for (let unit = 0; unit < hidden; unit++) {
      const [nextH, nextC] = EQUATIONS[cell](
        {
          x: (gate) => x?.[row + gate * hidden + unit] ?? 0,
          product: (gate) => sums[gate * hidden + unit] ?? 0,
          keptProduct: (gate) => keptSums[gate * hidden + unit] ?? 0,
          vector: (k, state = 1) =>
            vectors === undefined ? 0 : (vectors[(d * rows + k) * hidden + unit] ?? 0) * state,
          h: before[unit] ?? 0,
          c: c[unit] ?? 0,
        },
        options,
      );
      h[unit] = nextH;
      c[unit] = nextC;
      y[t * count + group * hidden + unit] = nextH;
    }
  }
  y.set(h, steps * count + group * hidden);
  if (states > 1) y.set(c, (steps + 1) * count + group * hidden);
}

interface Weights {
  readonly r: FloatArray;
  readonly d: number;
  readonly hidden: number;
  readonly width: number;
}

/** A row of numbers times the recurrent weights of a direction. */
function products(states: Float64Array, { r, d, hidden, width }: Weights): Float64Array {
  const sums = new Float64Array(width);
  for (let k = 0; k < hidden; k++) {
    const value = states[k] ?? 0;
    const start = (d * hidden + k) * width;
    const row = r.subarray(start, start + width);
    for (let column = 0; column < width; column++) {
      sums[column] = (sums[column] ?? 0) + value * (row[column] ?? 0);
    }
  }
  return sums;
}
