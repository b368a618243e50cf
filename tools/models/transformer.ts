import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import type { OnnxInputSpec } from '../../src/testing/onnx-writer.ts';
import { seededRandom } from '../../src/core/random.ts';
import { type DataSet, ModelDraft, type OwnModel } from './model-draft.ts';
import { type Cache, naiveTransformer, type TransformerWeights } from './naive-transformer.ts';
import { NaiveTensor, tabulate } from './naive-tensor.ts';

const SEED = 47;

/** Of a decoder after GPT-2: learned positions, norms before the layers, tied embeddings. */
const SIZE = {
  vocabulary: 64,
  positions: 32,
  width: 24,
  heads: 3,
  layers: 2,
  epsilon: 1e-5,
} as const;

const HEAD = SIZE.width / SIZE.heads;
const { width } = SIZE;

/** Batch, length and length of the past of each data set. */
const CALLS = [
  { batch: 2, sequence: 5, past: 0 },
  { batch: 1, sequence: 1, past: 6 },
  { batch: 3, sequence: 4, past: 3 },
];

/**
 * A decoder that takes the keys and values of earlier calls: `input_ids` [batch, sequence] and, per
 * layer, `past_key` and `past_value` [batch, heads, past, 8] to `logits` and the longer caches. Its
 * weights are seeded, not trained.
 */
export function buildTransformer(): OwnModel {
  const writer = new TransformerWriter();
  const onnx = writer.build();
  const random = seededRandom(SEED + 1);
  return { onnx, dataSets: CALLS.map((call) => dataSet(writer.weights, call, random)) };
}

/** Writes the graph as exporters spell it, with shapes that are computed. */
class TransformerWriter {
  readonly weights: Record<string, HostTensor> = {};
  readonly #draft = new ModelDraft(SEED);

  build(): Uint8Array {
    const draft = this.#draft;
    const { inputs, outputs } = signature();
    const [positions, allowed] = this.#positions();
    this.#weight('wte', [SIZE.vocabulary, width], { spread: 0.8 });
    this.#weight('wpe', [SIZE.positions, width], { spread: 0.3 });
    let x = draft.node('Add', 'embedding', [
      draft.node('Gather', 'tokens', ['wte', 'input_ids']),
      draft.node('Gather', 'places', ['wpe', positions]),
    ]);
    draft.float('scale', 1 / Math.sqrt(HEAD));
    draft.float('lowest', -3.4028234663852886e38);
    draft.ints('split_heads', [0, 0, SIZE.heads, HEAD]);
    draft.ints('join_heads', [0, 0, width]);
    for (let layer = 0; layer < SIZE.layers; layer++) {
      x = this.#attention(x, layer, allowed);
      x = this.#feedForward(x, layer);
    }
    const table = draft.node('Transpose', 'wte.transposed', ['wte'], { perm: [1, 0] });
    draft.node('MatMul', 'logits', [this.#norm('ln_f', x), table]);
    return draft.toOnnx({ inputs, outputs });
  }

  /** The places of the new tokens, and which tokens each of them sees. */
  #positions(): [string, string] {
    const draft = this.#draft;
    const dim = (name: string, of: string, axis: number): string =>
      draft.node('Gather', name, [
        draft.node('Shape', `${name}.shape`, [of]),
        draft.int(`${name}.axis`, axis),
      ]);
    const past = dim('past', 'past_key_0', 2);
    const total = draft.node('Add', 'total', [past, dim('sequence', 'input_ids', 1)]);
    const one = draft.int('one', 1);
    const positions = draft.node('Range', 'positions', [past, total, one]);
    const all = draft.node('Range', 'all_positions', [draft.int('zero', 0), total, one]);
    const rows = draft.node('Unsqueeze', 'rows', [positions, draft.ints('axis_1', [1])]);
    const columns = draft.node('Unsqueeze', 'columns', [all, draft.ints('axis_0', [0])]);
    return [positions, draft.node('LessOrEqual', 'allowed', [columns, rows])];
  }

  #attention(x: string, layer: number, allowed: string): string {
    const draft = this.#draft;
    const at = (name: string): string => `h${layer}.attention.${name}`;
    const joined = this.#dense(at('qkv'), this.#norm(`h${layer}.ln_1`, x), [width, 3 * width]);
    const [q = '', k = '', v = ''] = draft
      .split(at('split'), [joined], { axis: -1, num_outputs: 3 })
      .map((part) => {
        const parts = draft.node('Reshape', `${part}.heads`, [part, 'split_heads']);
        return draft.node('Transpose', `${part}.turned`, [parts], { perm: [0, 2, 1, 3] });
      });
    const along = { axis: 2 };
    const keys = draft.node('Concat', `present_key_${layer}`, [`past_key_${layer}`, k], along);
    const values = draft.node(
      'Concat',
      `present_value_${layer}`,
      [`past_value_${layer}`, v],
      along,
    );
    const turned = draft.node('Transpose', at('keys'), [keys], { perm: [0, 1, 3, 2] });
    const products = draft.node('MatMul', at('products'), [q, turned]);
    const scores = draft.node('Mul', at('scores'), [products, 'scale']);
    const masked = draft.node('Where', at('masked'), [allowed, scores, 'lowest']);
    const shares = draft.node('Softmax', at('shares'), [masked], { axis: -1 });
    const mixed = draft.node('MatMul', at('mixed'), [shares, values]);
    const together = draft.node('Transpose', at('together'), [mixed], { perm: [0, 2, 1, 3] });
    const flat = draft.node('Reshape', at('flat'), [together, 'join_heads']);
    return draft.node('Add', at('sum'), [x, this.#dense(at('out'), flat, [width, width])]);
  }

  #feedForward(x: string, layer: number): string {
    const at = (name: string): string => `h${layer}.mlp.${name}`;
    const inner = this.#dense(at('in'), this.#norm(`h${layer}.ln_2`, x), [width, 4 * width]);
    const outer = this.#dense(at('out'), this.#gelu(at('gelu'), inner), [4 * width, width]);
    return this.#draft.node('Add', at('sum'), [x, outer]);
  }

  /** x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x³))). */
  #gelu(name: string, x: string): string {
    const draft = this.#draft;
    const at = (part: string): string => `${name}.${part}`;
    const constant = (part: string, value: number): string => draft.float(at(part), value);
    const cube = draft.node('Pow', at('cube'), [x, constant('three', 3)]);
    const bent = draft.node('Mul', at('bent'), [cube, constant('bend', 0.044715)]);
    const inside = draft.node('Mul', at('inside'), [
      draft.node('Add', at('curve'), [x, bent]),
      constant('slope', Math.sqrt(2 / Math.PI)),
    ]);
    const gate = draft.node('Add', at('gate'), [
      draft.node('Tanh', at('tanh'), [inside]),
      constant('one', 1),
    ]);
    const half = draft.node('Mul', at('half'), [x, constant('a_half', 0.5)]);
    return draft.node('Mul', name, [half, gate]);
  }

  #norm(name: string, x: string): string {
    this.#weight(`${name}.scale`, [width], { center: 1, spread: 0.2 });
    this.#weight(`${name}.bias`, [width], { spread: 0.1 });
    const inputs = [x, `${name}.scale`, `${name}.bias`];
    const attributes = { axis: -1, epsilon: { float: SIZE.epsilon } };
    return this.#draft.node('LayerNormalization', name, inputs, attributes);
  }

  #dense(name: string, x: string, shape: readonly [number, number]): string {
    this.#weight(`${name}.weight`, shape, { spread: Math.sqrt(3 / shape[0]) });
    this.#weight(`${name}.bias`, [shape[1]], { spread: 0.1 });
    const products = this.#draft.node('MatMul', `${name}.product`, [x, `${name}.weight`]);
    return this.#draft.node('Add', name, [products, `${name}.bias`]);
  }

  #weight(
    name: string,
    shape: readonly number[],
    range: { readonly center?: number; readonly spread: number },
  ): void {
    this.weights[name] = this.#draft.weights(name, shape, range);
  }
}

/** Inputs and outputs, those of the caches layer by layer. */
function signature(): { inputs: OnnxInputSpec[]; outputs: OnnxInputSpec[] } {
  const caches = (prefix: string, length: string): OnnxInputSpec[] =>
    Array.from({ length: SIZE.layers }, (_, layer) =>
      ['key', 'value'].map((kind) => ({
        name: `${prefix}_${kind}_${layer}`,
        shape: ['batch', SIZE.heads, length, HEAD],
      })),
    ).flat();
  return {
    inputs: [
      { name: 'input_ids', dtype: 'int64', shape: ['batch', 'sequence'] },
      ...caches('past', 'past'),
    ],
    outputs: [
      { name: 'logits', shape: ['batch', 'sequence', SIZE.vocabulary] },
      ...caches('present', 'past + sequence'),
    ],
  };
}

function dataSet(
  weights: TransformerWeights,
  { batch, sequence, past }: (typeof CALLS)[number],
  random: () => number,
): DataSet {
  const ids = tabulate([batch, sequence], () => Math.floor(random() * SIZE.vocabulary));
  const cache = (): HostTensor =>
    tabulate([batch, SIZE.heads, past, HEAD], () => 2 * random() - 1).toTensor();
  const inputs = Array.from({ length: SIZE.layers }, () => [cache(), cache()] as const);
  const caches = inputs.map(
    ([key, value]): Cache => ({ key: NaiveTensor.of(key), value: NaiveTensor.of(value) }),
  );
  const { logits, presents } = naiveTransformer(weights, ids, caches);
  return {
    inputs: [ids.toTensor('int64'), ...inputs.flat()],
    outputs: [
      logits.toTensor(),
      ...presents.flatMap(({ key, value }) => [key.toTensor(), value.toTensor()]),
    ],
  };
}
