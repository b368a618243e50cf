import { EMBEDDING, HEAD } from './tensor-spec.ts';

/** Parts of a layer in transformers by their names in GGUF. */
const PARTS: Readonly<Record<string, string>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  attn_output: 'self_attn.o_proj',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
};

/** Prefixes of the decoder's tensors; a model that also sees has other parts beside it. */
const PREFIXES = ['model.', 'language_model.model.', 'model.language_model.', ''];

/** Tensors that a decoder of text does not have, and those that follow from its configuration. */
const BESIDE = /^(model\.)?(vision_tower|multi_modal_projector)\.|\.rotary_emb\.inv_freq$/;

/** The names of transformers for those of GGUF. */
export class TransformersNames {
  readonly #prefix: string;
  readonly #head: string;
  readonly #parts: Readonly<Record<string, string>>;

  constructor(
    tensors: ReadonlyMap<string, unknown>,
    parts: Readonly<Record<string, string>> | undefined,
  ) {
    const prefix = PREFIXES.find((candidate) => tensors.has(`${candidate}embed_tokens.weight`));
    this.#prefix = prefix ?? 'model.';
    const heads = ['lm_head.weight', 'language_model.lm_head.weight'];
    this.#head = heads.find((name) => tensors.has(name)) ?? 'lm_head.weight';
    this.#parts = { ...PARTS, ...parts };
  }

  /** `model.layers.3.mlp.up_proj.weight` of `blk.3.ffn_up.weight`. */
  of(name: string): string {
    if (name === EMBEDDING) return `${this.#prefix}embed_tokens.weight`;
    if (name === HEAD) return this.#head;
    if (name === 'output_norm.weight') return `${this.#prefix}norm.weight`;
    const [, layer, part = '', kind] = /^blk\.(\d+)\.(\w+)\.(\w+)$/.exec(name) ?? [];
    const known = this.#parts[part];
    if (known === undefined) throw new Error(`internal: no name of transformers for ${name}`);
    return `${this.#prefix}layers.${layer}.${known}.${kind}`;
  }

  /** Returns true for a tensor that belongs to no decoder. */
  isBeside(name: string): boolean {
    return BESIDE.test(name);
  }
}
