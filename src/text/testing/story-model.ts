import type { BlockCodes } from '../../frontend/decoders/files/blocks/repack-blocks.ts';
import { encodeFloat16 } from '../../core/tensor/float16-arrays.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import {
  type OnnxAttribute,
  type OnnxInputSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../testing/onnx-writer.ts';
import { headWidth, type StorySizes } from './story-sizes.ts';

/** Positions that the tables of angles have; no story is as long. */
export const POSITIONS = 256;

export type StoryWeights = ReadonlyMap<string, Float32Array>;

/** How a model is stored. */
interface StoryStorage {
  /** Of caches and of what is computed. Default float16. */
  readonly dtype?: 'float16' | 'float32';
  /** Positions that the tables of angles have; default {@link POSITIONS}. */
  readonly positions?: number;
  /** Matrices as codes by name, in place of weights; that of the embedding gives the logits. */
  readonly codes?: ReadonlyMap<string, StoryCodes>;
}

/** A matrix (outputs, inputs) in blocks along its rows, whose zero is half of the range of codes. */
export interface StoryCodes extends Omit<BlockCodes, 'zeros'> {
  readonly inputs: number;
}

/**
 * The story model as exporters for transformers.js write decoders like Llama's: `input_ids` and
 * `attention_mask`, and for each layer `past_key_values.N.key` and `.value` [batch, key heads, past,
 * head width], to `logits` in float32 and the longer `present.N.key` and `.value`.
 */
export function writeStoryModel(
  sizes: StorySizes,
  weights: StoryWeights,
  storage: StoryStorage = {},
): Uint8Array {
  return new StoryModelWriter(sizes, weights, storage).write();
}

class StoryModelWriter {
  readonly #sizes: StorySizes;
  readonly #weights: StoryWeights;
  readonly #nodes: OnnxNodeSpec[] = [];
  readonly #initializers: Record<string, HostTensor> = {};
  readonly #storage: Required<StoryStorage>;

  constructor(sizes: StorySizes, weights: StoryWeights, storage: StoryStorage) {
    this.#sizes = sizes;
    this.#weights = weights;
    this.#storage = { dtype: 'float16', positions: POSITIONS, codes: new Map(), ...storage };
  }

  write(): Uint8Array {
    const { vocabulary, width, layers } = this.#sizes;
    this.#lengths();
    this.#angles();
    const table = this.#weight('model.embed_tokens.weight', 'embedding', [vocabulary, width]);
    const tokens = '/model/embed_tokens/Gather';
    let sum = this.#node('Gather', tokens, [table, 'input_ids']);
    const scale = (layer: number, part: string): string => `model.layers.${layer}.${part}.weight`;
    let normed = this.#node(
      'SimplifiedLayerNormalization',
      '/model/layers.0/input_layernorm/LayerNorm',
      [sum, this.#weight(scale(0, 'input_layernorm'), 'l0.attention_norm', [width])],
      { axis: -1, epsilon: { float: this.#sizes.epsilon }, stash_type: 1 },
    );
    for (let layer = 0; layer < layers; layer++) {
      const at = `/model/layers.${layer}`;
      const attended = this.#attention(normed, layer);
      const norm = this.#weight(scale(layer, 'post_attention_layernorm'), `l${layer}.feed_norm`, [
        width,
      ]);
      [normed, sum] = this.#skipNorm(`${at}/post_attention_layernorm/SkipLayerNorm`, [
        sum,
        attended,
        norm,
      ]);
      const fed = this.#feedForward(normed, layer);
      const isLast = layer + 1 === layers;
      const next = isLast ? 'final_norm_layernorm' : 'input_layernorm';
      const nextNorm = this.#weight(
        scale(layer + 1, next),
        isLast ? 'norm' : `l${layer + 1}.attention_norm`,
        [width],
      );
      [normed, sum] = this.#skipNorm(`/model/layers.${layer + 1}/${next}/SkipLayerNorm`, [
        sum,
        fed,
        nextNorm,
      ]);
    }
    const logits = this.#logits(normed, table);
    this.#nodes.push(cast('/lm_head/Cast', logits, { output: 'logits', to: FLOAT }));
    return this.#toOnnx();
  }

  #logits(x: string, table: string): string {
    const codes = this.#storage.codes.get('embedding');
    if (codes !== undefined) return this.#codedProduct('lm_head', x, codes);
    const head = this.#node('Transpose', '/lm_head/Transpose', [table], { perm: [1, 0] });
    return this.#node('MatMul', '/lm_head/MatMul', [x, head]);
  }

  /** How many tokens came before the last of each row, and how many there are: from the attention mask. */
  #lengths(): void {
    const at = (name: string): string => `/model/attn_mask_reformat/attn_mask_subgraph/${name}`;
    const one = this.#int64('/model/constants/INT64/[1]', [1], [1n]);
    const sums = this.#node('ReduceSum', at('ReduceSum'), ['attention_mask', one], { keepdims: 1 });
    const lasts = this.#node('Sub', at('Sub'), [sums, one]);
    this.#nodes.push(cast(at('Sub/Cast'), lasts, { output: LASTS, to: INT32 }));
    const shape = this.#node('Shape', at('Shape'), ['attention_mask']);
    const index = this.#int64('/model/constants/INT64/1', [], [1n]);
    const total = this.#node('Gather', at('Gather'), [shape, index], { axis: 0 });
    this.#nodes.push(cast(at('Gather/Cast'), total, { output: TOTAL, to: INT32 }));
  }

  /** Cosines and sines [positions, half of a head]. */
  #angles(): void {
    const half = headWidth(this.#sizes) / 2;
    const { dtype, positions } = this.#storage;
    const angles = Array.from(
      { length: positions * half },
      (_, i) => Math.floor(i / half) * this.#sizes.theta ** (-(i % half) / half),
    );
    const shape = [positions, half];
    this.#initializers['cos_cache'] = floats(dtype, shape, angles.map(Math.cos));
    this.#initializers['sin_cache'] = floats(dtype, shape, angles.map(Math.sin));
  }

  #attention(x: string, layer: number): string {
    const { width, heads, keyHeads } = this.#sizes;
    const keys = keyHeads * headWidth(this.#sizes);
    const part = (name: string, own: string, shape: Shape, input = x): string =>
      this.#product(`layers.${layer}/attn/${name}`, input, { own: `l${layer}.${own}`, shape });
    const name = `/model/layers.${layer}/attn/GroupQueryAttention`;
    const inputs = [
      part('q_proj', 'query', [width, width]),
      part('k_proj', 'key', [width, keys]),
      part('v_proj', 'value', [width, keys]),
      `past_key_values.${layer}.key`,
      `past_key_values.${layer}.value`,
      LASTS,
      TOTAL,
      'cos_cache',
      'sin_cache',
    ];
    const attributes = {
      num_heads: heads,
      kv_num_heads: keyHeads,
      scale: { float: 1 / Math.sqrt(headWidth(this.#sizes)) },
      do_rotary: 1,
      rotary_interleaved: 0,
    };
    const output = `${name}/output_0`;
    const outputs = [output, `present.${layer}.key`, `present.${layer}.value`];
    this.#nodes.push({
      op: 'GroupQueryAttention',
      domain: MICROSOFT,
      name,
      inputs,
      outputs,
      attributes,
    });
    return part('o_proj', 'output', [width, width], output);
  }

  #feedForward(x: string, layer: number): string {
    const { width, inner } = this.#sizes;
    const part = (name: string, shape: Shape, input = x): string =>
      this.#product(`layers.${layer}/mlp/${name}_proj`, input, { own: `l${layer}.${name}`, shape });
    const at = (name: string): string => `/model/layers.${layer}/mlp/${name}`;
    const gate = part('gate', [width, inner]);
    const open = this.#node('Sigmoid', at('act_fn/Sigmoid'), [gate]);
    const bent = this.#node('Mul', at('act_fn/Mul'), [gate, open]);
    const product = this.#node('Mul', at('Mul'), [bent, part('up', [width, inner])]);
    return part('down', [inner, width], product);
  }

  #product(path: string, x: string, { own, shape }: { own: string; shape: Shape }): string {
    const codes = this.#storage.codes.get(own);
    if (codes !== undefined) return this.#codedProduct(`model/${path}`, x, codes);
    const name = `model.${path.replaceAll('/', '.')}.MatMul.weight`;
    return this.#node('MatMul', `/model/${path}/MatMul`, [x, this.#weight(name, own, shape)]);
  }

  /** By codes whose zero is half of their range. */
  #codedProduct(path: string, x: string, codes: StoryCodes): string {
    const { bits, blockSize, inputs } = codes;
    const blocks = inputs / blockSize;
    const outputs = codes.scales.length / blocks;
    const weight = `${path.replaceAll('/', '.')}.MatMul.weight`;
    const shape = [outputs, blocks, (blockSize * bits) / 8];
    this.#initializers[`${weight}_quant`] = new HostTensor('uint8', shape, codes.codes);
    const { dtype } = this.#storage;
    this.#initializers[`${weight}_scales`] = floats(dtype, [outputs * blocks], codes.scales);
    const name = `/${path}/MatMulNBits`;
    const output = `${name}/output_0`;
    this.#nodes.push({
      op: 'MatMulNBits',
      domain: MICROSOFT,
      name,
      inputs: [x, `${weight}_quant`, `${weight}_scales`],
      outputs: [output],
      attributes: { K: inputs, N: outputs, bits, block_size: blockSize },
    });
    return output;
  }

  /** The sum of two, normalized and as it is. */
  #skipNorm(name: string, inputs: readonly string[]): [string, string] {
    const outputs = [`${name}/output_0`, '', '', `${name}/output_3`];
    const attributes = { epsilon: { float: this.#sizes.epsilon } };
    const op = 'SkipSimplifiedLayerNormalization';
    this.#nodes.push({ op, domain: MICROSOFT, name, inputs, outputs, attributes });
    return [`${name}/output_0`, `${name}/output_3`];
  }

  #node(
    op: string,
    name: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): string {
    const output = `${name}/output_0`;
    this.#nodes.push({ op, name, inputs, outputs: [output], attributes });
    return output;
  }

  #weight(name: string, own: string, shape: Shape): string {
    const values = this.#weights.get(own);
    if (values === undefined) throw new Error(`The checkpoint has no weight ${own}.`);
    this.#initializers[name] = floats(this.#storage.dtype, shape, values);
    return name;
  }

  #int64(name: string, shape: Shape, values: readonly bigint[]): string {
    this.#initializers[name] = HostTensor.from('int64', shape, values);
    return name;
  }

  #toOnnx(): Uint8Array {
    const { vocabulary } = this.#sizes;
    const past = this.#caches('past_key_values', 'past_sequence_length');
    const present = this.#caches('present', 'total_sequence_length');
    return writeOnnxModel({
      opset: 21,
      opsets: { [MICROSOFT]: 1 },
      producer: 'weft scripts/train/stories',
      nodes: this.#nodes,
      initializers: this.#initializers,
      inputs: [
        { name: 'input_ids', dtype: 'int64', shape: ['batch_size', 'sequence_length'] },
        { name: 'attention_mask', dtype: 'int64', shape: ['batch_size', 'total_sequence_length'] },
        ...past,
      ],
      outputs: ['logits', ...present.map(({ name }) => name)],
      outputTypes: {
        logits: { shape: ['batch_size', 'sequence_length', vocabulary] },
        ...Object.fromEntries(present.map(({ name, ...type }) => [name, type])),
      },
    });
  }

  #caches(prefix: string, length: string): OnnxInputSpec[] {
    const { dtype } = this.#storage;
    const shape = ['batch_size', this.#sizes.keyHeads, length, headWidth(this.#sizes)];
    return Array.from({ length: this.#sizes.layers }, (_, layer) =>
      ['key', 'value'].map(
        (kind): OnnxInputSpec => ({ name: `${prefix}.${layer}.${kind}`, dtype, shape }),
      ),
    ).flat();
  }
}

const MICROSOFT = 'com.microsoft';
/** Codes of `TensorProto.DataType`. */
const [FLOAT, INT32] = [1, 6];
const LASTS = '/model/attn_mask_reformat/attn_mask_subgraph/Sub/Cast/output_0';
const TOTAL = '/model/attn_mask_reformat/attn_mask_subgraph/Gather/Cast/output_0';

const cast = (
  name: string,
  input: string,
  { output, to }: { readonly output: string; readonly to: number },
): OnnxNodeSpec => ({ op: 'Cast', name, inputs: [input], outputs: [output], attributes: { to } });

function floats(dtype: 'float16' | 'float32', shape: Shape, values: ArrayLike<number>): HostTensor {
  if (dtype === 'float32') return new HostTensor(dtype, shape, Float32Array.from(values));
  const tensor = HostTensor.zeros('float16', shape);
  encodeFloat16(
    values,
    new Uint16Array(tensor.bytes.buffer, tensor.bytes.byteOffset, values.length),
  );
  return tensor;
}
