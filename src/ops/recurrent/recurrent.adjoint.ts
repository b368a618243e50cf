import type { ExpandedCall, Half, Halving } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { stepCount } from '../adjoint/step-count.ts';
import { boolAttribute, floatAttribute, stringAttribute } from '../attributes.ts';
import type { ActivationCall, ActivationName } from './activations.ts';
import { activationsOf, type CellName, cellOf, CELLS, directionCount } from './recurrent-cell.ts';

/** The second call in the order of steps begins with the states that the first ends with. */
const recurrentHalving: Halving = { axes: [0], apart: directionsApart, halves };

function directionsApart({ inputs, attributes, graph }: ExpandedCall): GraphTensor | undefined {
  const [x, r, initial, vectors, ...lengths] = inputs;
  if (directionCount(attributes) === 1) return undefined;
  if (x === undefined || r === undefined || initial === undefined) return undefined;
  const { activations: perCell, states } = CELLS[cellOf(attributes)];
  const [steps = 1, batch = 1, width = 1] = x.shape;
  const own = graph.dims.floordiv(width, 2);
  const row = (of: GraphTensor, index: number) =>
    graph.sliceAxis(of, 0, { from: index, to: index + 1 });
  const directions = ['forward', 'reverse'].map((direction, d) => {
    const columns = graph.at(graph.reshape(x, [steps, batch, 2, own]), 2, d);
    const begin = Array.from({ length: states }, (_, state) => row(initial, 2 * state + d));
    const rest = vectors === undefined ? [] : [row(vectors, d), ...lengths];
    const lists = ['activations', 'alphas', 'betas'].map((name) => {
      const value = attributes[name];
      const list = Array.isArray(value) ? value : [];
      return [name, list.slice(d * perCell, (d + 1) * perCell)] as const;
    });
    return graph.call('recurrent', [columns, row(r, d), graph.concat(begin, 0), ...rest], {
      ...attributes,
      ...Object.fromEntries(lists),
      direction,
    });
  });
  return graph.concat(directions, 1);
}

function halves(
  { inputs, output, attributes, graph }: ExpandedCall,
  { first, run }: Half,
): GraphTensor {
  const [x, r, initial, vectors, lengths] = inputs;
  if (x === undefined || r === undefined || initial === undefined) return output;
  const { dims } = graph;
  const others = dims.sub(x.shape[0] ?? 1, first);
  const call = (part: GraphTensor, begin: GraphTensor, isFirst: boolean): GraphTensor => {
    const own = lengths && (isFirst ? lengths : lengthsAfter(lengths, { first, graph }));
    const rest = [vectors, own].flatMap((input) => input ?? []);
    return run([part, r, begin, ...rest]);
  };
  const parts = [
    { rows: graph.sliceAxis(x, 0, { to: first }), count: first, isFirst: true },
    { rows: graph.sliceAxis(x, 0, { from: first }), count: others, isFirst: false },
  ];
  const isReverse = stringAttribute(attributes, 'direction') === 'reverse';
  const results: GraphTensor[] = [];
  let states = initial;
  for (const { rows, count, isFirst } of isReverse ? parts.toReversed() : parts) {
    const result = call(rows, states, isFirst);
    results.push(graph.sliceAxis(result, 0, { to: count }));
    states = graph.reshape(graph.sliceAxis(result, 0, { from: count }), initial.shape);
  }
  const last = graph.reshape(states, [initial.shape[0] ?? 1, 1, ...initial.shape.slice(1)]);
  return graph.concat([...(isReverse ? results.toReversed() : results), last], 0);
}

/** The lengths of sequences without their first steps, as many as `first`. */
function lengthsAfter(
  lengths: GraphTensor,
  { first, graph }: Pick<Half, 'first'> & Pick<ExpandedCall, 'graph'>,
): GraphTensor {
  const left = graph.sub(lengths, graph.size([first], lengths.dtype));
  return graph.call('maximum', [left, graph.scalar(0, lengths.dtype)]);
}

type ActivationGraph = (
  graph: GraphBuilder,
  x: GraphTensor,
  parameters: Pick<ActivationCall, 'alpha' | 'beta'>,
) => GraphTensor;

const one = (g: GraphBuilder, x: GraphTensor): GraphTensor => g.scalar(1, x.dtype);

/** Activations of cells in operators. */
const GRAPHS: Readonly<Record<ActivationName, ActivationGraph>> = {
  Affine: (g, x, { alpha, beta }) => g.add(g.mul(x, alpha), beta),
  Elu(g, x, { alpha }) {
    const isNegative = g.less(x, 0);
    const power = g.unary('exp', g.where(isNegative, x, 0));
    return g.where(isNegative, g.mul(g.sub(power, 1), alpha), x);
  },
  HardSigmoid: (g, x, { alpha, beta }) =>
    g.call('clip', [g.add(g.mul(x, alpha), beta)], { min: 0, max: 1 }),
  LeakyRelu: (g, x, { alpha }) => g.where(g.less(x, 0), g.mul(x, alpha), x),
  Relu: (g, x) => g.unary('relu', x),
  ScaledTanh: (g, x, { alpha, beta }) => g.mul(g.unary('tanh', g.mul(x, beta)), alpha),
  Sigmoid: (g, x) => g.unary('sigmoid', x),
  Softplus: (g, x) =>
    g.add(g.unary('relu', x), g.unary('log1p', g.unary('exp', g.neg(g.unary('abs', x))))),
  Softsign: (g, x) => g.div(x, g.add(one(g, x), g.unary('abs', x))),
  Tanh: (g, x) => g.unary('tanh', x),
  ThresholdedRelu: (g, x, { alpha }) => g.where(g.less(x, alpha), 0, x),
};

/** An activation of a cell, applied. */
function activationGraph(
  graph: GraphBuilder,
  x: GraphTensor,
  { name, ...parameters }: ActivationCall,
): GraphTensor {
  const found = Object.entries(GRAPHS).find(([known]) => known === name)?.[1];
  if (found === undefined) throw new Error(`internal: no activation ${name}`);
  return found(graph, x, parameters);
}

/** One step of one direction: everything is (batch, hidden), or one of it for each gate. */
interface CellStep {
  readonly call: ExpandedCall;
  /** Inputs of the gates, projected. */
  readonly x: readonly GraphTensor[];
  readonly product: (states: GraphTensor) => readonly GraphTensor[];
  readonly vector: (row: number) => GraphTensor | undefined;
  readonly activate: readonly ((x: GraphTensor) => GraphTensor)[];
  readonly h: GraphTensor;
  readonly c: GraphTensor;
}

const same = (x: GraphTensor): GraphTensor => x;

const CELL_GRAPHS: Readonly<
  Record<CellName, (step: CellStep) => readonly [h: GraphTensor, c: GraphTensor]>
> = {
  rnn({ call: { graph }, x: [x], product, activate: [f = same], h, c }) {
    const [of = h] = product(h);
    return [f(graph.add(x ?? h, of)), c];
  },
  gru({ call, x, product, vector, activate: [f = same, g = same], h, c }) {
    const { graph, attributes } = call;
    const [x0 = h, x1 = h, x2 = h] = x;
    const [p0 = h, p1 = h, p2 = h] = product(h);
    const keep = f(graph.add(x0, p0));
    const reset = f(graph.add(x1, p1));
    const isLate = boolAttribute(attributes, 'linear_before_reset');
    const added = vector(0);
    const late = graph.mul(reset, added === undefined ? p2 : graph.add(p2, added));
    const inner = isLate ? late : (product(graph.mul(reset, h))[2] ?? h);
    const next = g(graph.add(x2, inner));
    const change = graph.mul(graph.sub(graph.scalar(1, h.dtype), keep), next);
    return [graph.add(change, graph.mul(keep, h)), c];
  },
  lstm({ call, x, product, vector, activate, h, c }) {
    const { graph, attributes } = call;
    const [f = same, g = same, last = same] = activate;
    const products = product(h);
    const gate = (index: number, row: number | undefined, cell: GraphTensor): GraphTensor => {
      const sum = graph.add(x[index] ?? h, products[index] ?? h);
      const weight = row === undefined ? undefined : vector(row);
      return weight === undefined ? sum : graph.add(sum, graph.mul(weight, cell));
    };
    const input = f(gate(0, 0, c));
    const forget = boolAttribute(attributes, 'input_forget')
      ? graph.sub(graph.scalar(1, h.dtype), input)
      : f(gate(2, 2, c));
    const next = g(gate(3, undefined, c));
    const cell = graph.add(graph.mul(forget, c), graph.mul(input, next));
    return [graph.mul(f(gate(1, 1, cell)), last(cell)), cell];
  },
};

/** Its steps, one after the other, where their number is known. */
export const recurrentAdjoint = byExpansion(written, { halving: recurrentHalving });

function written(call: ExpandedCall): GraphTensor {
  const { inputs, output, attributes, graph } = call;
  const [x, , initial] = inputs;
  if (x === undefined || initial === undefined) return output;
  const { states } = CELLS[cellOf(attributes)];
  const steps = stepCount(x.shape[0] ?? 0, 'recurrent');
  const directions = Array.from({ length: directionCount(attributes) }, (_, d) =>
    runDirection(call, d, steps),
  );
  const rows = Array.from({ length: steps + states }, (_, row) => {
    const parts = directions.map((of) => of[row] ?? x);
    return graph.concat(
      parts.map((part) => graph.reshape(part, [1, 1, ...part.shape])),
      1,
    );
  });
  return graph.concat(rows, 0);
}

/** The result of each step, then the last states. */
function runDirection(call: ExpandedCall, d: number, steps: number): readonly GraphTensor[] {
  const { inputs, output, attributes, graph } = call;
  const [x = output, r = output, initial = output, vectors, lengths] = inputs;
  const cell = cellOf(attributes);
  const { gates, states } = CELLS[cell];
  const directions = directionCount(attributes);
  const [batch = 1, hidden = 1] = output.shape.slice(2);
  const matrix = graph.at(r, 0, d);
  const split = (of: GraphTensor): GraphTensor[] => {
    const parts = graph.reshape(of, [batch, gates, hidden]);
    return Array.from({ length: gates }, (_, gate) => graph.at(parts, 1, gate));
  };
  const inputsOf = graph.reshape(x, [...x.shape.slice(0, 2), directions, gates, hidden]);
  const activate = activations(call, d);
  const vectorRows =
    vectors && graph.reshape(graph.at(vectors, 0, d), [CELLS[cell].vectors, hidden]);
  const isReverse = stringAttribute(attributes, 'direction') === 'reverse' || d === 1;
  let h = graph.at(initial, 0, d);
  let c = states > 1 ? graph.at(initial, 0, directions + d) : graph.full(h.shape, h.dtype);
  const results: GraphTensor[] = [];
  for (let i = 0; i < steps; i++) {
    const t = isReverse ? steps - 1 - i : i;
    const own = graph.at(graph.at(inputsOf, 0, t), 1, d);
    const [nextH, nextC] = CELL_GRAPHS[cell]({
      call,
      x: Array.from({ length: gates }, (_, gate) => graph.at(own, 1, gate)),
      product: (of) => split(graph.matmul(of, matrix)),
      vector: (row) => vectorRows && graph.at(vectorRows, 0, row),
      activate,
      h,
      c,
    });
    if (lengths === undefined) {
      [h, c] = [nextH, nextC];
      results[t] = h;
      continue;
    }
    // Steps beyond the end of a sequence leave its states, and give zeros.
    const column = graph.reshape(lengths, [batch, 1]);
    const isInside = graph.less(graph.scalar(t, lengths.dtype), column);
    [h, c] = [graph.where(isInside, nextH, h), graph.where(isInside, nextC, c)];
    results[t] = graph.where(isInside, nextH, 0);
  }
  return [...results, h, ...(states > 1 ? [c] : [])];
}

function activations(
  { attributes, graph }: ExpandedCall,
  d: number,
): readonly ((x: GraphTensor) => GraphTensor)[] {
  const clip = floatAttribute(attributes, 'clip');
  const limited = (x: GraphTensor): GraphTensor =>
    clip > 0 ? graph.call('clip', [x], { min: -clip, max: clip }) : x;
  return (activationsOf(attributes)[d] ?? []).map(
    (activation) => (x) => activationGraph(graph, limited(x), activation),
  );
}
