import { FormatError, UnsupportedError } from '../../../core/errors.ts';
import type { GgufHead } from '../files/gguf.ts';
import { isRecord, type JsonRecord, parseJson } from '../files/json-record.ts';
import type { StoredTensor } from '../files/stored-tensor.ts';
import type { Architecture } from './architecture.ts';
import { ARCHITECTURES } from './architectures.ts';
import { DecoderFile } from './decoder-file.ts';
import { GgufFacts } from './gguf-config.ts';
import { EMBEDDING, HEAD } from './tensor-spec.ts';
import { TransformersFacts } from './transformers-config.ts';

/** How far a decoder is to reach. */
export interface OpenOptions {
  /**
   * Positions that it is to reach, up to the model's own number, which is the default. LongRoPE has other factors
   * where they are more than the original ones.
   */
  readonly contextLength?: number | undefined;
}

/**
 * The decoder of a GGUF file. Throws UnsupportedError for an architecture or anything else that Weft lacks, all
 * of it at once, FormatError for metadata that contradict themselves; no weight is read.
 */
export function openGguf(
  { metadata, tensors }: GgufHead,
  { contextLength }: OpenOptions = {},
): DecoderFile {
  const where = 'GGUF file';
  const type = metadata.string('general.type') ?? 'model';
  if (type !== 'model') {
    throw new UnsupportedError({ where: `${where}, general.type`, got: type, expected: 'model' });
  }
  const name = metadata.string('general.architecture') ?? 'none';
  const architecture = ARCHITECTURES.find((known) => known.name === name);
  if (architecture === undefined) throw unknown(`${where}, general.architecture`, name);
  const problems: string[] = [];
  const facts = new GgufFacts(metadata, {
    architecture: name,
    where,
    tensors,
    vocabulary: rowsOf(tensors, EMBEDDING, where),
    askedContext: contextLength,
    problems,
  });
  const config = architecture.fromGguf(facts);
  facts.refuseUnread();
  const { factors } = config.rotary;
  const isScaled = typeof factors === 'string' && OTHER_FACTORS.test(factors);
  return new DecoderFile({
    architecture,
    config,
    stored: tensors,
    nameOf: (name) => name,
    isBeside: (name) => isScaled && OTHER_FACTORS.test(name),
    where,
    problems,
  });
}

/** Factors for contexts of another length than the one that is asked for. */
const OTHER_FACTORS = /^rope_factors_(short|long)\.weight$/;

/**
 * The decoder of a folder of transformers: the text of its `config.json`, and the tensors of its safetensors.
 * Throws as {@link openGguf} does.
 */
export function openTransformers(
  configJson: string,
  tensors: ReadonlyMap<string, StoredTensor>,
  { contextLength }: OpenOptions = {},
): DecoderFile {
  const where = 'config.json';
  const { config, type } = textConfig(parseJson(configJson, where));
  const architecture = ARCHITECTURES.find(({ modelTypes }) => modelTypes.includes(type));
  if (architecture === undefined) throw unknown(`${where}, model_type`, type);
  const names = new TransformersNames(tensors, architecture.transformersNames);
  const problems: string[] = [];
  if (isRecord(config['quantization_config'])) {
    problems.push(`weights quantised by ${String(config['quantization_config']['quant_method'])}`);
  }
  const facts = new TransformersFacts(config, {
    where,
    tensors,
    vocabulary: rowsOf(tensors, names.of(EMBEDDING), 'safetensors'),
    askedContext: contextLength,
    problems,
  });
  return new DecoderFile({
    architecture,
    config: architecture.fromTransformers(facts),
    stored: tensors,
    nameOf: (name) => names.of(name),
    isBeside: (name) => names.isBeside(name),
    where,
    problems,
  });
}

/**
 * The part of a configuration that describes the decoder: of models that also see, `text_config`.
 */
function textConfig(config: JsonRecord): { readonly config: JsonRecord; readonly type: string } {
  const text = config['text_config'];
  const type = config['model_type'];
  return { config: isRecord(text) ? text : config, type: typeof type === 'string' ? type : 'none' };
}

function rowsOf(tensors: ReadonlyMap<string, StoredTensor>, name: string, where: string): number {
  const [rows, ...rest] = tensors.get(name)?.shape ?? [];
  if (rows !== undefined && rest.length === 1) return rows;
  throw new FormatError({
    where,
    got: tensors.has(name) ? `${name} of rank ${rest.length + 1}` : `no tensor ${name}`,
    expected: 'a matrix of embeddings of that name',
  });
}

function unknown(where: string, name: string): UnsupportedError {
  return new UnsupportedError({
    where,
    got: name,
    expected: `one of ${ARCHITECTURES.map((known: Architecture) => known.name).join(', ')}`,
  });
}

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
class TransformersNames {
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
