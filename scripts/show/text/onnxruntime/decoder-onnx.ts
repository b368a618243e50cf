import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import {
  type OnnxAttribute,
  type OnnxInputSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../../../src/testing/onnx-writer.ts';
import type { TestedDecoder } from '../../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { nBitsWeights } from './n-bits-weights.ts';

/**
 * How attention is written: `grouped` is GroupQueryAttention, as onnxruntime's model builder has it; `joined` is MatMul and Softmax over
 * joined past and new rows, as optimum exports what PyTorch runs.
 */
export type AttentionForm = 'grouped' | 'joined';

const MICROSOFT = 'com.microsoft';
/** Codes of `TensorProto.DataType`. */
const [FLOAT, INT32, BOOL] = [1, 6, 9];

/**
 * A decoder of the architecture llama as exporters for transformers.js write it, in float32: `input_ids`, `attention_mask`,
 * perhaps `position_ids`, and `past_key_values.N.key` and `.value` to `logits` and `present.N.key` and `.value`. Matrices of
 * Q4_0 and Q8_0 become MatMulNBits over the same codes, those of F32 MatMul. Throws Error for other architectures and types.
 */
export function decoderOnnx(decoder: TestedDecoder, attention: AttentionForm): Uint8Array {
  const { model_type: type } = decoder.config;
  if (type !== 'llama') throw new Error(`got the architecture ${type}, expected llama`);
  return new DecoderWriter(decoder, attention).write();
}

class DecoderWriter {
  readonly #decoder: TestedDecoder;
  readonly #form: AttentionForm;
  readonly #nodes: OnnxNodeSpec[] = [];
  readonly #initializers: Record<string, HostTensor> = {};

  constructor(decoder: TestedDecoder, form: AttentionForm) {
    this.#decoder = decoder;
    this.#form = form;
  }

  write(): Uint8Array {
    const { config, weights } = this.#decoder;
    const { num_hidden_layers: layers, hidden_size: width, vocab_size: tokens } = config;
    const isGrouped = this.#form === 'grouped';
    if (isGrouped) this.#lengths();
    else this.#masks();
    const table = Array.from(weights.get('model.embed_tokens.weight') ?? []);
    let x = this.#node('Gather', [this.#float('embedding', [tokens, width], table), 'input_ids']);
    for (let layer = 0; layer < layers; layer++) {
      const at = `model.layers.${layer}`;
      const normed = this.#norm(x, `${at}.input_layernorm`);
      const mixed = isGrouped ? this.#grouped(normed, layer) : this.#joined(normed, layer);
      const y = this.#node('Add', [x, this.#times(mixed, `${at}.self_attn.o_proj`)]);
      const fed = this.#feedForward(this.#norm(y, `${at}.post_attention_layernorm`), `${at}.mlp`);
      x = this.#node('Add', [y, fed]);
    }
    const head = config.tie_word_embeddings ? 'model.embed_tokens' : 'lm_head';
    this.#times(this.#norm(x, 'model.norm'), head, 'logits');
    return this.#toOnnx();
  }

  /** Of GroupQueryAttention: the last place of each row, and how many places there are. */
  #lengths(): void {
    const one = this.#ints('one', [1]);
    const sums = this.#node('ReduceSum', ['attention_mask', one], { attributes: { keepdims: 1 } });
    const lasts = this.#node('Sub', [sums, one]);
    this.#node('Cast', [lasts], { output: 'seqlens_k', attributes: { to: INT32 } });
    const shape = this.#node('Shape', ['attention_mask']);
    const total = this.#node('Gather', [shape, this.#int('index.1', 1)]);
    this.#node('Cast', [total], { output: 'total', attributes: { to: INT32 } });
    const { max_position_embeddings: positions, head_dim: size, rope_theta: theta } = this.#config;
    const half = size / 2;
    const angles = Array.from(
      { length: positions * half },
      (_, i) => Math.floor(i / half) / theta ** ((i % half) / half),
    );
    this.#float('cos_cache', [positions, half], angles.map(Math.cos));
    this.#float('sin_cache', [positions, half], angles.map(Math.sin));
  }

  /** Of attention that is written out: what each token sees as 0 or -1e9, and cosines and sines (b, 1, s, size). */
  #masks(): void {
    const one = this.#ints('one', [1]);
    const [zero, step] = [this.#int('zero', 0), this.#int('step', 1)];
    const lengthOf = (name: string): string => {
      const length = this.#node('Gather', [this.#node('Shape', [name]), one]);
      return this.#node('Squeeze', [length]);
    };
    const total = lengthOf('attention_mask');
    const past = this.#node('Sub', [total, lengthOf('input_ids')]);
    const columns = this.#node('Range', [zero, total, step]);
    const rows = this.#node('Unsqueeze', [this.#node('Range', [past, total, step]), one]);
    const causal = this.#node('LessOrEqual', [columns, rows]);
    const known = this.#node('Cast', ['attention_mask'], { attributes: { to: BOOL } });
    const seen = this.#node('And', [
      this.#node('Unsqueeze', [causal, this.#ints('axes.01', [0, 1])]),
      this.#node('Unsqueeze', [known, this.#ints('axes.12', [1, 2])]),
    ]);
    const [none, lowest] = [this.#float('none', [], [0]), this.#float('lowest', [], [-1e9])];
    this.#node('Where', [seen, none, lowest], { output: 'mask' });
    const { head_dim: size, rope_theta: theta } = this.#config;
    const frequencies = Array.from({ length: size / 2 }, (_, i) => theta ** ((-2 * i) / size));
    const places = this.#node('Cast', ['position_ids'], { attributes: { to: FLOAT } });
    const angles = this.#node('Mul', [
      this.#node('Unsqueeze', [places, this.#ints('axis.2', [2])]),
      this.#float('inv_freq', [size / 2], frequencies),
    ]);
    const both = this.#node('Concat', [angles, angles], { attributes: { axis: -1 } });
    for (const op of ['Cos', 'Sin']) {
      this.#node('Unsqueeze', [this.#node(op, [both]), one], { output: op.toLowerCase() });
    }
  }

  #grouped(x: string, layer: number): string {
    const {
      num_attention_heads: heads,
      num_key_value_heads: keyHeads,
      head_dim: size,
    } = this.#config;
    const at = `model.layers.${layer}.self_attn`;
    const past = `past_key_values.${layer}`;
    const output = `${at}.mixed`;
    this.#nodes.push({
      op: 'GroupQueryAttention',
      domain: MICROSOFT,
      inputs: [
        ...['q_proj', 'k_proj', 'v_proj'].map((name) => this.#times(x, `${at}.${name}`)),
        `${past}.key`,
        `${past}.value`,
        'seqlens_k',
        'total',
        'cos_cache',
        'sin_cache',
      ],
      outputs: [output, `present.${layer}.key`, `present.${layer}.value`],
      attributes: {
        num_heads: heads,
        kv_num_heads: keyHeads,
        scale: { float: 1 / Math.sqrt(size) },
        do_rotary: 1,
      },
    });
    return output;
  }

  #joined(x: string, layer: number): string {
    const {
      num_attention_heads: heads,
      num_key_value_heads: keyHeads,
      head_dim: size,
    } = this.#config;
    const at = `model.layers.${layer}.self_attn`;
    const split = (name: string, count: number): string => {
      const shape = this.#ints(`split.${count}`, [0, 0, count, size]);
      const parts = this.#node('Reshape', [this.#times(x, `${at}.${name}`), shape]);
      return this.#node('Transpose', [parts], { attributes: { perm: [0, 2, 1, 3] } });
    };
    const join = (kind: string, added: string): string => {
      const output = `present.${layer}.${kind}`;
      const parts = [`past_key_values.${layer}.${kind}`, added];
      return this.#repeated(this.#node('Concat', parts, { output, attributes: { axis: 2 } }));
    };
    const queries = this.#rotated(split('q_proj', heads));
    const keys = join('key', this.#rotated(split('k_proj', keyHeads)));
    const values = join('value', split('v_proj', keyHeads));
    const turned = this.#node('Transpose', [keys], { attributes: { perm: [0, 1, 3, 2] } });
    const scale = this.#float('scale', [], [1 / Math.sqrt(size)]);
    const scores = this.#node('Mul', [this.#node('MatMul', [queries, turned]), scale]);
    const masked = this.#node('Add', [scores, 'mask']);
    const weights = this.#node('Softmax', [masked], { attributes: { axis: -1 } });
    const mixed = this.#node('MatMul', [weights, values]);
    const back = this.#node('Transpose', [mixed], { attributes: { perm: [0, 2, 1, 3] } });
    return this.#node('Reshape', [back, this.#ints('flat', [0, 0, heads * size])]);
  }

  /** `repeat_kv` of transformers: each head as often as queries share it. */
  #repeated(x: string): string {
    const {
      num_attention_heads: heads,
      num_key_value_heads: keyHeads,
      head_dim: size,
    } = this.#config;
    const apart = this.#node('Unsqueeze', [x, this.#ints('axis.2', [2])]);
    const shape = this.#ints('group', [1, 1, heads / keyHeads, 1, 1]);
    const copies = this.#node('Expand', [apart, shape]);
    return this.#node('Reshape', [copies, this.#ints('all.heads', [0, heads, -1, size])]);
  }

  /** `apply_rotary_pos_emb` of transformers. */
  #rotated(x: string): string {
    const half = this.#config.head_dim / 2;
    const axis = this.#ints('axis.3', [3]);
    const part = (begin: number, end: number): string => {
      const [from, to] = [begin, end].map((at) => this.#ints(`at.${at}`, [at]));
      return this.#node('Slice', [x, from ?? '', to ?? '', axis]);
    };
    const parts = [this.#node('Neg', [part(half, 2 * half)]), part(0, half)];
    const other = this.#node('Concat', parts, { attributes: { axis: -1 } });
    return this.#node('Add', [this.#node('Mul', [x, 'cos']), this.#node('Mul', [other, 'sin'])]);
  }

  #feedForward(x: string, at: string): string {
    const gate = this.#times(x, `${at}.gate_proj`);
    const opened = this.#node('Mul', [gate, this.#node('Sigmoid', [gate])]);
    const product = this.#node('Mul', [opened, this.#times(x, `${at}.up_proj`)]);
    return this.#times(product, `${at}.down_proj`);
  }

  #norm(x: string, name: string): string {
    const weight = Array.from(this.#decoder.weights.get(`${name}.weight`) ?? []);
    const scale = this.#float(`${name}.weight`, [weight.length], weight);
    const epsilon = this.#config.rms_norm_eps;
    if (this.#form === 'grouped') {
      const attributes = { axis: -1, epsilon: { float: epsilon }, stash_type: 1 };
      return this.#node('SimplifiedLayerNormalization', [x, scale], { attributes });
    }
    const squares = this.#node('Pow', [x, this.#float('two', [], [2])]);
    const last = this.#ints('axis.-1', [-1]);
    const mean = this.#node('ReduceMean', [squares, last]);
    const raised = this.#node('Add', [mean, this.#float('epsilon', [], [epsilon])]);
    const inverse = this.#node('Reciprocal', [this.#node('Sqrt', [raised])]);
    return this.#node('Mul', [scale, this.#node('Mul', [x, inverse])]);
  }

  /** A product with a matrix [outputs, inputs]. */
  #times(x: string, name: string, output?: string): string {
    const tensor = this.#decoder.tensors.find((own) => own.name === `${name}.weight`);
    if (tensor === undefined) throw new Error(`no weight ${name}`);
    const [rows = 0, columns = 0] = tensor.shape;
    if (tensor.type === 'F32') {
      const { values } = tensor;
      const turned = Array.from(
        values,
        (_, i) => values[(i % rows) * columns + Math.floor(i / rows)] ?? NaN,
      );
      return this.#node('MatMul', [x, this.#float(`${name}.MatMul`, [columns, rows], turned)], {
        output,
      });
    }
    const { codes, scales, attributes } = nBitsWeights(tensor);
    this.#initializers[`${name}.codes`] = codes;
    this.#initializers[`${name}.scales`] = scales;
    return this.#node('MatMulNBits', [x, `${name}.codes`, `${name}.scales`], {
      domain: MICROSOFT,
      attributes: { ...attributes, accuracy_level: 0 },
      output,
    });
  }

  get #config(): TestedDecoder['config'] {
    return this.#decoder.config;
  }

  #node(
    op: string,
    inputs: readonly string[],
    {
      output = `v${this.#nodes.length}`,
      ...more
    }: {
      readonly output?: string | undefined;
      readonly domain?: string;
      readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
    } = {},
  ): string {
    this.#nodes.push({ op, inputs, outputs: [output], ...more });
    return output;
  }

  #float(name: string, shape: readonly number[], values: readonly number[]): string {
    this.#initializers[name] = HostTensor.from('float32', shape, values);
    return name;
  }

  #ints(name: string, values: readonly number[]): string {
    this.#initializers[name] = HostTensor.from('int64', [values.length], values);
    return name;
  }

  #int(name: string, value: number): string {
    this.#initializers[name] = HostTensor.from('int64', [], [value]);
    return name;
  }

  #toOnnx(): Uint8Array {
    const ids = (name: string, length: string): OnnxInputSpec => ({
      name,
      dtype: 'int64',
      shape: ['batch_size', length],
    });
    const present = this.#caches('present', 'total_sequence_length');
    const logits = ['batch_size', 'sequence_length', this.#config.vocab_size];
    return writeOnnxModel({
      opset: 18,
      opsets: { [MICROSOFT]: 1 },
      nodes: this.#nodes,
      initializers: this.#initializers,
      inputs: [
        ids('input_ids', 'sequence_length'),
        ids('attention_mask', 'total_sequence_length'),
        ...(this.#form === 'joined' ? [ids('position_ids', 'sequence_length')] : []),
        ...this.#caches('past_key_values', 'past_sequence_length'),
      ],
      outputs: ['logits', ...present.map(({ name }) => name)],
      outputTypes: {
        logits: { shape: logits },
        ...Object.fromEntries(present.map(({ name, ...type }) => [name, type])),
      },
    });
  }

  #caches(prefix: string, length: string): OnnxInputSpec[] {
    const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = this.#config;
    return Array.from({ length: 2 * layers }, (_, i) => ({
      name: `${prefix}.${Math.floor(i / 2)}.${i % 2 === 0 ? 'key' : 'value'}`,
      dtype: 'float32' as const,
      shape: ['batch_size', heads, length, size],
    }));
  }
}
