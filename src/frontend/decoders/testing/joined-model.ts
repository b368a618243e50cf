import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import {
  type OnnxInputSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../../testing/onnx-writer.ts';

const [VOCABULARY, LAYERS, HEADS, SIZE] = [90, 2, 2, 8];
const WIDTH = HEADS * SIZE;
const POSITIONS = 256;

interface JoinedOptions {
  /**
   * True if positions are an input; otherwise the model counts those of the mask, as GPT-2 does.
   */
  readonly hasPositions: boolean;
}

/**
 * A decoder with learned positions as exporters write it: past and new keys are joined by Concat, and the mask, which is as
 * long as both, hides what is behind a token and what the attention mask leaves out.
 */
export function joinedModelBytes({ hasPositions }: JoinedOptions): Uint8Array {
  const random = seededRandom(5);
  const weight = (shape: readonly number[], scale: number): HostTensor => {
    const count = shape.reduce((product, size) => product * size, 1);
    return HostTensor.from(
      'float32',
      shape,
      Array.from({ length: count }, () => (random() - 0.5) * scale),
    );
  };
  const nodes: OnnxNodeSpec[] = [];
  const node = (op: string, inputs: readonly string[], output: string, attributes = {}): string => {
    nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  };
  const initializers: Record<string, HostTensor> = {
    tokens: weight([VOCABULARY, WIDTH], 4),
    places: weight([POSITIONS, WIDTH], 4),
    head: weight([WIDTH, VOCABULARY], 2),
    zero: HostTensor.from('int64', [1], [0]),
    one: HostTensor.from('int64', [1], [1]),
    two: HostTensor.from('int64', [1], [2]),
    heads: HostTensor.from('int64', [4], [0, 0, HEADS, SIZE]),
    flat: HostTensor.from('int64', [3], [0, 0, WIDTH]),
    scale: HostTensor.from('float32', [], [1 / Math.sqrt(SIZE)]),
    lowest: HostTensor.from('float32', [], [-1e9]),
    none: HostTensor.from('float32', [], [0]),
    axis1: HostTensor.from('int64', [1], [1]),
    axes: HostTensor.from('int64', [2], [1, 2]),
    outer: HostTensor.from('int64', [2], [0, 1]),
    first: HostTensor.from('int64', [], [0]),
    step: HostTensor.from('int64', [], [1]),
  };
  // How many there were, are new, and are there in all.
  node('Shape', ['input_ids'], 'ids.shape');
  node('Gather', ['ids.shape', 'one'], 'new');
  node('Shape', ['attention_mask'], 'mask.shape');
  node('Gather', ['mask.shape', 'one'], 'total');
  node('Squeeze', ['total'], 'total.0');
  node('Sub', ['total', 'new'], 'past');
  node('Squeeze', ['past'], 'past.0');
  node('Range', ['first', 'total.0', 'step'], 'columns');
  node('Range', ['past.0', 'total.0', 'step'], 'rows');
  node('Unsqueeze', ['rows', 'axis1'], 'rows.1');
  node('LessOrEqual', ['columns', 'rows.1'], 'causal');
  node('Unsqueeze', ['causal', 'outer'], 'causal.4');
  node('Cast', ['attention_mask'], 'mask.bool', { to: 9 });
  node('Unsqueeze', ['mask.bool', 'axes'], 'mask.4');
  node('And', ['causal.4', 'mask.4'], 'seen');
  node('Where', ['seen', 'none', 'lowest'], 'hidden');
  let positions = 'position_ids';
  if (!hasPositions) {
    node('CumSum', ['attention_mask', 'one.0'], 'counted');
    initializers['one.0'] = HostTensor.from('int64', [], [1]);
    node('Sub', ['counted', 'one'], 'counted.0');
    initializers['end'] = HostTensor.from('int64', [1], [2 ** 40]);
    positions = node('Slice', ['counted.0', 'past', 'end', 'one'], 'positions');
  }
  let x = node(
    'Add',
    [
      node('Gather', ['tokens', 'input_ids'], 'x.tokens', { axis: 0 }),
      node('Gather', ['places', positions], 'x.places', { axis: 0 }),
    ],
    'x',
  );
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = (name: string): string => `${layer}.${name}`;
    const part = (name: string): string => {
      initializers[at(`${name}.w`)] = weight([WIDTH, WIDTH], 1);
      const product = node('MatMul', [x, at(`${name}.w`)], at(name));
      const split = node('Reshape', [product, 'heads'], at(`${name}.split`));
      return node('Transpose', [split], at(`${name}.turned`), { perm: [0, 2, 1, 3] });
    };
    const [q, k, v] = [part('q'), part('k'), part('v')];
    const key = node('Concat', [`past_key_values.${layer}.key`, k], `present.${layer}.key`, {
      axis: 2,
    });
    const value = node('Concat', [`past_key_values.${layer}.value`, v], `present.${layer}.value`, {
      axis: 2,
    });
    const turned = node('Transpose', [key], at('k.t'), { perm: [0, 1, 3, 2] });
    const scores = node('Mul', [node('MatMul', [q, turned], at('qk')), 'scale'], at('scores'));
    const weights = node(
      'Softmax',
      [node('Add', [scores, 'hidden'], at('masked'))],
      at('weights'),
      { axis: -1 },
    );
    const mixed = node('MatMul', [weights, value], at('mixed'));
    const back = node('Transpose', [mixed], at('back'), { perm: [0, 2, 1, 3] });
    x = node(
      'Add',
      [x, node('Tanh', [node('Reshape', [back, 'flat'], at('flat'))], at('bent'))],
      at('sum'),
    );
  }
  node('MatMul', [x, 'head'], 'logits');
  const caches = (prefix: string, length: string): OnnxInputSpec[] =>
    Array.from({ length: LAYERS }, (_, layer) =>
      ['key', 'value'].map((kind) => ({
        name: `${prefix}.${layer}.${kind}`,
        dtype: 'float32' as const,
        shape: ['batch', HEADS, length, SIZE],
      })),
    ).flat();
  const ids = (name: string, length: string): OnnxInputSpec => ({
    name,
    dtype: 'int64',
    shape: ['batch', length],
  });
  const present = caches('present', 'total');
  return writeOnnxModel({
    nodes,
    initializers,
    inputs: [
      ids('input_ids', 'sequence'),
      ids('attention_mask', 'past + sequence'),
      ...(hasPositions ? [ids('position_ids', 'sequence')] : []),
      ...caches('past_key_values', 'past'),
    ],
    outputs: ['logits', ...present.map(({ name }) => name)],
    outputTypes: {
      logits: { shape: ['batch', 'sequence', VOCABULARY] },
      ...Object.fromEntries(present.map(({ name, ...type }) => [name, type])),
    },
  });
}
