import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { firstDifference } from '../../../../core/tensor/all-close.ts';
import type { OnnxAttribute } from '../../../../testing/onnx-writer.ts';
import { seededRandom } from '../../../../core/random.ts';
import {
  at,
  describeNodes,
  floats as floatsFrom,
  type NodeInput,
} from '../../testing/describe-nodes.ts';

const random = seededRandom(11);
const floats = (...dims: readonly (number | readonly [string, number])[]) =>
  floatsFrom(random, ...dims);

type Cell = 'RNN' | 'GRU' | 'LSTM';
type Activation = (x: number) => number;

const GATES = { RNN: 1, GRU: 3, LSTM: 4 };
const sigmoid: Activation = (x) => 1 / (1 + Math.exp(-x));
const DEFAULTS: Readonly<Record<Cell, readonly Activation[]>> = {
  RNN: [Math.tanh],
  GRU: [sigmoid, Math.tanh],
  LSTM: [sigmoid, Math.tanh, Math.tanh],
};

interface Layer {
  readonly cell: Cell;
  readonly direction?: 'forward' | 'reverse' | 'bidirectional';
  readonly lengths?: readonly number[];
  readonly isBatchFirst?: boolean;
  readonly hasBias?: boolean;
  readonly hasInitial?: boolean;
  readonly hasPeepholes?: boolean;
  readonly isCoupled?: boolean;
  readonly resetsLate?: boolean;
  readonly clip?: number;
  /** Activations by name and as functions, for one direction after the other. */
  readonly activations?: readonly (readonly [string, Activation])[];
  readonly alphas?: readonly number[];
  readonly betas?: readonly number[];
}

const [steps, batch, inputs, hidden] = [4, 3, 2, 3];

interface Tensors {
  readonly x: NodeInput;
  readonly w: NodeInput;
  readonly r: NodeInput;
  readonly b: NodeInput | undefined;
  readonly h: NodeInput | undefined;
  readonly c: NodeInput | undefined;
  readonly p: NodeInput | undefined;
}

function tensorsOf(layer: Layer): Tensors {
  const { cell, direction, isBatchFirst, hasBias, hasInitial, hasPeepholes } = layer;
  const directions = direction === 'bidirectional' ? 2 : 1;
  const width = GATES[cell] * hidden;
  const [s, n] = [['s', steps] as const, ['n', batch] as const];
  const state = () =>
    isBatchFirst === true ? floats(n, directions, hidden) : floats(directions, n, hidden);
  const isLstm = cell === 'LSTM';
  return {
    x: isBatchFirst === true ? floats(n, s, inputs) : floats(s, n, inputs),
    w: floats(directions, width, inputs),
    r: floats(directions, width, hidden),
    b: hasBias === true ? floats(directions, 2 * width) : undefined,
    h: hasInitial === true ? state() : undefined,
    c: hasInitial === true && isLstm ? state() : undefined,
    p: hasPeepholes === true ? floats(directions, 3 * hidden) : undefined,
  };
}

interface Outputs {
  readonly y: HostTensor;
  readonly h: HostTensor;
  readonly c: HostTensor;
}

/** The equations of ONNX, step by step and unit by unit. */
function plainLayer(layer: Layer, given: Tensors): Outputs {
  const { direction = 'forward', isBatchFirst = false } = layer;
  const directions = direction === 'bidirectional' ? 2 : 1;
  const yShape = isBatchFirst
    ? [batch, steps, directions, hidden]
    : [steps, directions, batch, hidden];
  const stateShape = isBatchFirst ? [batch, directions, hidden] : [directions, batch, hidden];
  const y = HostTensor.zeros('float32', yShape);
  const [lastH, lastC] = [0, 1].map(() => HostTensor.zeros('float32', stateShape));
  if (lastH === undefined || lastC === undefined) throw new Error('no states');
  const set = (tensor: HostTensor, value: number, ...coords: number[]) => {
    const place = coords.reduce((sum, k, axis) => sum * (tensor.shape[axis] ?? 1) + k, 0);
    tensor.elements[place] = value;
  };
  for (let d = 0; d < directions; d++) {
    for (let n = 0; n < batch; n++) {
      const length = layer.lengths?.[n] ?? steps;
      const stateAt = (tensor: NodeInput | undefined, j: number): number => {
        if (tensor === undefined) return 0;
        return isBatchFirst ? at(tensor.tensor, n, d, j) : at(tensor.tensor, d, n, j);
      };
      const units = Array.from({ length: hidden }, (_, j) => j);
      let h = units.map((j) => stateAt(given.h, j));
      let c = units.map((j) => stateAt(given.c, j));
      for (let step = 0; step < length; step++) {
        const t = direction === 'reverse' || d === 1 ? length - 1 - step : step;
        const x = Array.from({ length: inputs }, (_, i) =>
          isBatchFirst ? at(given.x.tensor, n, t, i) : at(given.x.tensor, t, n, i),
        );
        const next = nextStates(layer, given, { d, x, h, c });
        h = next.map(([state]) => state);
        c = next.map(([, state]) => state);
        for (const j of units) {
          if (isBatchFirst) set(y, h[j] ?? 0, n, t, d, j);
          else set(y, h[j] ?? 0, t, d, n, j);
        }
      }
      const last = (j: number) => (isBatchFirst ? [n, d, j] : [d, n, j]);
      for (const j of units) set(lastH, h[j] ?? 0, ...last(j));
      for (const j of units) set(lastC, c[j] ?? 0, ...last(j));
    }
  }
  return { y, h: lastH, c: lastC };
}

interface Before {
  readonly d: number;
  readonly x: readonly number[];
  readonly h: readonly number[];
  readonly c: readonly number[];
}

function nextStates(
  layer: Layer,
  { w, r, b, p }: Tensors,
  { d, x, h, c }: Before,
): readonly (readonly [number, number])[] {
  const { cell, clip, resetsLate = false, isCoupled = false } = layer;
  const count = DEFAULTS[cell].length;
  const own = layer.activations?.slice(d * count, (d + 1) * count).map(([, apply]) => apply);
  const limit = (v: number) => (clip === undefined ? v : Math.min(Math.max(v, -clip), clip));
  const [f, g, o] = (own ?? DEFAULTS[cell]).map(
    (apply): Activation =>
      (v) =>
        apply(limit(v)),
  );
  if (f === undefined) throw new Error('no activation');
  const width = GATES[cell] * hidden;
  const bias = (k: number): number => (b === undefined ? 0 : at(b.tensor, d, k));
  const peephole = (k: number): number => (p === undefined ? 0 : at(p.tensor, d, k));
  const sum = (row: readonly number[], weights: NodeInput, k: number): number =>
    row.reduce((total, value, i) => total + value * at(weights.tensor, d, k, i), 0);
  const fromX = (k: number): number => sum(x, w, k) + bias(k);
  const fromH = (k: number, states = h): number => sum(states, r, k) + bias(width + k);
  const resets = h.map((state, j) =>
    cell === 'GRU' ? f(fromX(hidden + j) + fromH(hidden + j)) * state : 0,
  );
  return h.map((state, j): readonly [number, number] => {
    if (cell === 'RNN') return [f(fromX(j) + fromH(j)), 0];
    if (g === undefined) throw new Error('no activation');
    if (cell === 'GRU') {
      const z = f(fromX(j) + fromH(j));
      const k = 2 * hidden + j;
      const recurrent = resetsLate
        ? f(fromX(hidden + j) + fromH(hidden + j)) * fromH(k)
        : fromH(k, resets);
      return [(1 - z) * g(fromX(k) + recurrent) + z * state, 0];
    }
    if (o === undefined) throw new Error('no activation');
    const before = c[j] ?? 0;
    const input = f(fromX(j) + fromH(j) + peephole(j) * before);
    const k = 2 * hidden + j;
    const forget = isCoupled ? 1 - input : f(fromX(k) + fromH(k) + peephole(k) * before);
    const update = g(fromX(3 * hidden + j) + fromH(3 * hidden + j));
    const cellState = forget * before + input * update;
    const output = f(fromX(hidden + j) + fromH(hidden + j) + peephole(hidden + j) * cellState);
    return [output * o(cellState), cellState];
  });
}

function attributesOf(layer: Layer): Record<string, OnnxAttribute> {
  const { direction, isBatchFirst, isCoupled, resetsLate, clip, activations } = layer;
  return {
    hidden_size: hidden,
    ...(direction === undefined ? {} : { direction }),
    ...(isBatchFirst === true ? { layout: 1 } : {}),
    ...(isCoupled === true ? { input_forget: 1 } : {}),
    ...(resetsLate === true ? { linear_before_reset: 1 } : {}),
    ...(clip === undefined ? {} : { clip: { float: clip } }),
    ...(activations === undefined
      ? {}
      : { activations: { strings: activations.map(([name]) => name) } }),
    ...(layer.alphas === undefined ? {} : { activation_alpha: { floats: layer.alphas } }),
    ...(layer.betas === undefined ? {} : { activation_beta: { floats: layer.betas } }),
  };
}

const RELU: readonly [string, Activation] = ['Relu', (x) => Math.max(x, 0)];
const AFFINE: readonly [string, Activation] = ['Affine', (x) => 0.5 * x + 0.25];
const LEAKY: readonly [string, Activation] = ['LeakyRelu', (x) => (x < 0 ? 0.01 * x : x)];
const HARD: readonly [string, Activation] = [
  'hardsigmoid',
  (x) => Math.min(Math.max(0.3 * x + 0.5, 0), 1),
];
const TANH: readonly [string, Activation] = ['Tanh', Math.tanh];

const LAYERS: readonly Layer[] = [
  ...(['RNN', 'GRU', 'LSTM'] as const).flatMap((cell): Layer[] => [
    { cell },
    { cell, direction: 'reverse', hasBias: true, lengths: [4, 2, 1] },
    { cell, direction: 'bidirectional', hasBias: true, hasInitial: true, lengths: [0, 4, 3] },
    { cell, direction: 'bidirectional', isBatchFirst: true, hasBias: true, hasInitial: true },
    { cell, hasBias: true, clip: 0.3 },
  ]),
  { cell: 'GRU', resetsLate: true, hasBias: true },
  { cell: 'GRU', resetsLate: true, hasBias: true, direction: 'bidirectional', lengths: [4, 1, 2] },
  { cell: 'GRU', resetsLate: true, lengths: [4, 1, 2] },
  { cell: 'LSTM', hasPeepholes: true, hasInitial: true, hasBias: true },
  { cell: 'LSTM', hasPeepholes: true, hasInitial: true, isCoupled: true },
  // An activation without alpha consumes none.
  { cell: 'LSTM', activations: [HARD, RELU, AFFINE], alphas: [0.3, 0.5], betas: [0.5, 0.25] },
  { cell: 'RNN', direction: 'bidirectional', activations: [LEAKY, TANH] },
];

describeNodes('recurrent layers', (run) => {
  test.each(LAYERS.map((layer) => [JSON.stringify(layer), layer] as const))(
    '%s',
    async (_, layer) => {
      const { cell, lengths } = layer;
      const given = tensorsOf(layer);
      const { x, w, r, b, h, c, p } = given;
      const ends: NodeInput | undefined = lengths && {
        tensor: HostTensor.from('int32', [batch], lengths),
        shape: ['n'],
      };
      const isLstm = cell === 'LSTM';
      const results = await run({
        op: cell,
        inputs: isLstm ? [x, w, r, b, ends, h, c, p] : [x, w, r, b, ends, h],
        outputCount: isLstm ? 3 : 2,
        attributes: attributesOf(layer),
      });
      const { y, h: lastH, c: lastC } = plainLayer(layer, given);
      const expected = isLstm ? [y, lastH, lastC] : [y, lastH];
      expect(results).toHaveLength(expected.length);
      for (const [i, tensor] of results.entries()) {
        const other = expected[i] ?? tensor;
        expect(firstDifference(tensor, other, { rtol: 1e-4, atol: 1e-5 })).toBeUndefined();
      }
    },
  );

  describe('refused', () => {
    const { x, w, r } = tensorsOf({ cell: 'GRU' });
    test.each([
      [['Gelu', 'Tanh'], 'activation Gelu'],
      [['Tanh'], '1 activations'],
    ])('activations %o', async (strings, message) => {
      const node = { op: 'GRU', inputs: [x, w, r], outputCount: 1 };
      const failed = run({ ...node, attributes: { activations: { strings } } });
      await expect(failed).rejects.toThrow(message);
    });
  });
});
