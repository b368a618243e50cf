import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { CELL_ACTIVATIONS } from '../../../../ops/recurrent/activations.ts';
import { type CellName, CELLS } from '../../../../ops/recurrent/recurrent-cell.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { number } from '../elementwise/elementwise.ts';
import { cutAlong } from '../movement/slice-along.ts';
import { toFloats } from '../quantization/quantization.ts';

/** The weights of inputs and of states: (directions, gates * hidden, size) and (directions, gates * hidden, hidden). */
type LayerWeights = readonly [weights: Expr, recurrent: Expr];

const givenWeights = (node: ImportNode): LayerWeights => [node.input(1), node.input(2)];

interface Layer {
  readonly cell: CellName;
  readonly weights: Expr;
  readonly directions: number;
  readonly hidden: Dim;
  readonly isBatchFirst: boolean;
  readonly resetsLate: boolean;
}

/**
 * RNN, GRU or LSTM: one product projects the inputs of all steps, `recurrent` does the rest. Outputs
 * are those of each step, the last ones, and of an LSTM the last cell states.
 */
export const layer =
  (cell: CellName, weightsOf = givenWeights): NodeImporter =>
  (node) => {
    const { attributes } = node;
    // Older operator sets: the size of weights says the same, and every output is there.
    attributes.ignore('hidden_size', 'output_sequence');
    const direction = attributes.string('direction', 'forward');
    const [weights, recurrentRows] = weightsOf(node);
    const spec: Layer = {
      cell,
      weights,
      directions: direction === 'bidirectional' ? 2 : 1,
      hidden: node.shape(recurrentRows)[2] ?? 0,
      isBatchFirst: attributes.int('layout', 0) === 1,
      resetsLate: cell === 'gru' && attributes.bool('linear_before_reset'),
    };
    const { bias, recurrentBias } = biases(node, spec);
    const x = projected(node, spec, bias);
    const initial = initialStates(node, spec, node.shape(x)[1] ?? 0);
    const lengths = node.inputs[4];
    const peepholes = cell === 'lstm' ? node.inputs[7] : recurrentBias;
    const vectors =
      lengths === undefined || peepholes !== undefined
        ? peepholes
        : zeros(node, x, [spec.directions, node.dims.mul(spec.hidden, CELLS[cell].vectors)]);
    const recurrentWeights = node.call('transpose', [recurrentRows], { perm: [0, 2, 1] });
    const operands = [x, recurrentWeights, initial, vectors, lengths];
    const states = node.call(
      'recurrent',
      operands.flatMap((operand) => operand ?? []),
      {
        cell,
        direction,
        ...activations(node, spec),
        clip: attributes.float('clip', 0),
        linear_before_reset: spec.resetsLate,
        input_forget: cell === 'lstm' && attributes.bool('input_forget'),
      },
    );
    return outputs(node, states, spec);
  };

function outputs(node: ImportNode, states: Expr, spec: Layer): readonly Expr[] {
  const [rows = 0, ...rest] = node.shape(states);
  const { states: stateCount } = CELLS[spec.cell];
  const steps = node.dims.sub(rows, stateCount);
  const last = Array.from({ length: stateCount }, () => 1);
  const [all, ...ends] = cutAlong(node, states, { axis: 0, sizes: [steps, ...last] });
  if (all === undefined) throw new Error('internal: no outputs of a recurrent layer');
  const turned = (x: Expr, perm: readonly number[]): Expr =>
    spec.isBatchFirst ? node.call('transpose', [x], { perm }) : x;
  return [
    turned(all, [2, 0, 1, 3]),
    ...ends.map((end) => turned(node.reshape(end, rest), [1, 0, 2])),
  ];
}

/** (steps, batch, directions * gates * hidden). */
function projected(node: ImportNode, spec: Layer, bias: Expr | undefined): Expr {
  const x = spec.isBatchFirst
    ? node.call('transpose', [node.input(0)], { perm: [1, 0, 2] })
    : node.input(0);
  const [directions = 1, width = 0, size = 0] = node.shape(spec.weights);
  const rows = node.reshape(spec.weights, [node.dims.mul(width, directions), size]);
  const product = node.call('matmul', [x, node.call('transpose', [rows], { perm: [1, 0] })]);
  return bias === undefined ? product : node.call('add', [product, bias]);
}

/**
 * The biases of both products in one. That of a reset gate which comes after the product is apart:
 * it lies within the gate.
 */
function biases(
  node: ImportNode,
  { cell, directions, hidden, resetsLate }: Layer,
): { readonly bias: Expr | undefined; readonly recurrentBias: Expr | undefined } {
  const given = node.inputs[3];
  if (given === undefined) return { bias: undefined, recurrentBias: undefined };
  const { gates } = CELLS[cell];
  const width = node.dims.mul(hidden, gates);
  const [input, recurrent] = cutAlong(node, given, { axis: 1, sizes: [width, width] });
  if (input === undefined || recurrent === undefined) throw new Error('internal: no biases');
  const flat = (x: Expr): Expr => node.reshape(x, [node.dims.mul(width, directions)]);
  if (!resetsLate) {
    return { bias: flat(node.call('add', [input, recurrent])), recurrentBias: undefined };
  }
  const sizes = [node.dims.mul(hidden, 2), hidden];
  const [outside, recurrentBias] = cutAlong(node, recurrent, { axis: 1, sizes });
  if (outside === undefined) throw new Error('internal: no biases');
  const rest = zeros(node, given, [directions, hidden]);
  const added = node.call('concat', [outside, rest], { axis: 1 });
  return { bias: flat(node.call('add', [input, added])), recurrentBias };
}

/** (states * directions, batch, hidden): zeros where the model gives none. */
function initialStates(node: ImportNode, spec: Layer, batch: Dim): Expr {
  const { cell, directions, hidden, isBatchFirst } = spec;
  const shape = [directions, batch, hidden];
  const given = [5, 6].slice(0, CELLS[cell].states).map((index) => node.inputs[index]);
  const like = node.input(0);
  if (given.every((state) => state === undefined)) {
    return zeros(node, like, [directions * given.length, batch, hidden]);
  }
  const states = given.map((state) => {
    if (state === undefined) return zeros(node, like, shape);
    return isBatchFirst ? node.call('transpose', [state], { perm: [1, 0, 2] }) : state;
  });
  const [only, ...more] = states;
  return only !== undefined && more.length === 0 ? only : node.call('concat', states, { axis: 0 });
}

function zeros(node: ImportNode, like: Expr, shape: readonly Dim[]): Expr {
  return node.call('broadcast_to', [number(node, like, 0)], { shape });
}

interface Activations {
  readonly activations: readonly string[];
  readonly alphas: readonly number[];
  readonly betas: readonly number[];
}

const DEFAULT_ACTIVATIONS: Readonly<Record<CellName, readonly string[]>> = {
  rnn: ['Tanh'],
  gru: ['Sigmoid', 'Tanh'],
  lstm: ['Sigmoid', 'Tanh', 'Tanh'],
};

/** Parameters are consumed in order, by those activations that have them. */
function activations(node: ImportNode, { cell, directions }: Layer): Activations {
  const byDefault = Array.from({ length: directions }, () => DEFAULT_ACTIVATIONS[cell]).flat();
  const names = (node.attributes.strings('activations') ?? byDefault).map((name) => {
    const known = Object.keys(CELL_ACTIVATIONS);
    const found = known.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
    if (found !== undefined) return found;
    throw node.unsupported(`activation ${name}`, known.join(', '));
  });
  if (names.length !== byDefault.length) {
    throw node.malformed(`${names.length} activations`, `${byDefault.length}`);
  }
  const consumed = (parameter: 'alpha' | 'beta'): readonly number[] => {
    const rest = [...(node.attributes.floats(`activation_${parameter}`) ?? [])];
    return names.map((name) => {
      const otherwise = CELL_ACTIVATIONS[name]?.[parameter];
      return otherwise === undefined ? 0 : (rest.shift() ?? otherwise);
    });
  };
  return { activations: names, alphas: consumed('alpha'), betas: consumed('beta') };
}

export const RECURRENT_IMPORTERS: OperatorImporters = {
  GRU: since(1, 'recurrent transpose reshape matmul broadcast_to slice add concat', layer('gru')),
  LSTM: since(1, 'recurrent reshape transpose matmul broadcast_to slice add concat', layer('lstm')),
  RNN: since(1, 'recurrent reshape transpose matmul slice add broadcast_to', layer('rnn')),
};

/**
 * Weights of bytes, (directions, size, 4 * hidden), as floats in rows: scales and zero points are one for each
 * direction, or one for each column of it too. Inputs and states stay floats, which is more exact than the eight bits
 * that the operator allows for them.
 */
function dequantized(node: ImportNode, weights: number, scales: number): Expr {
  const bytes = node.input(weights);
  const params = [scales, scales + 1].map((index) => {
    const given = node.inputs[index];
    if (given === undefined) return undefined;
    const [directions = 1, columns = 1] = node.shape(given);
    return node.reshape(given, [directions, 1, columns]);
  });
  const [scale, zero] = params;
  if (scale === undefined) throw node.malformed('no scales', `input ${scales}`);
  const floats = toFloats(node, bytes, { scale, zero });
  return node.call('transpose', [floats], { perm: [0, 2, 1] });
}

export const QUANTIZED_RECURRENT_IMPORTERS: OperatorImporters = {
  DynamicQuantizeLSTM: since(
    1,
    'recurrent dequantize reshape transpose matmul broadcast_to slice add concat',
    layer('lstm', (node) => [dequantized(node, 1, 8), dequantized(node, 2, 10)]),
  ),
};
