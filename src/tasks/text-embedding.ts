import type { Session } from '../client/session.ts';
import { Tensor } from '../client/values/tensor.ts';
import { checkOptions, oneOf } from '../core/check-options.ts';
import { ShapeError, UsageError } from '../core/errors.ts';
import type { TextTokenizer } from '../text/load/remote-tokenizer.ts';
import { encodeAtMost } from './encode-at-most.ts';
import { batchesFor } from './fixed-batches.ts';
import { chooseOutput } from './results/choose-output.ts';
import { numbersOf } from './results/numbers.ts';
import { type JsonObject, loadTask, readJson, type TaskSource } from './task-model.ts';
import { type CallOptions, TASK_OPTIONS, type TaskOptions } from './task-options.ts';
import type { TaskTokenizer } from './task-tokenizer.ts';
import { Task } from './task.ts';

/** How numbers of tokens become those of a text: their mean, those of the first token, or of the last one. */
type Pooling = 'mean' | 'cls' | 'last';

/** How a model that embeds texts is loaded. */
export interface TextEmbeddingOptions extends Omit<TaskOptions, 'preprocessor'> {
  /** Default: what `1_Pooling/config.json` says, where there is one, else `mean`. */
  readonly pooling?: Pooling | undefined;
  /** Scales vectors to length 1. Default true. */
  readonly normalize?: boolean | undefined;
  /** Tokens of a text that the model sees; what is more is left out. Default: `max_position_embeddings`, at most 512. */
  readonly mostTokens?: number | undefined;
  /** The output with the vectors. Default: `sentence_embedding`, `text_embeds`, `last_hidden_state` or `token_embeddings`, or the only one. */
  readonly output?: string | undefined;
}

/**
 * Loads a model that makes vectors of texts: a folder with `tokenizer.json`, `tokenizer_config.json`, and a model that takes `input_ids`,
 * and perhaps `attention_mask`, `token_type_ids` and `position_ids`, and gives `last_hidden_state` (N, tokens, size) or a vector of its own
 * (N, size). Rejects as `Session.load` does, with DownloadError where the tokenizer is not there, and with ShapeError for other inputs, or
 * where it is not certain which output is meant.
 */
export async function textEmbedding(
  source: TaskSource,
  options: TextEmbeddingOptions = {},
): Promise<TextEmbedding> {
  const { preprocessor: _, ...kinds } = TASK_OPTIONS;
  checkOptions<TextEmbeddingOptions>('textEmbedding', options, {
    pooling: oneOf('mean', 'cls', 'last'),
    normalize: 'boolean',
    mostTokens: 'count',
    output: 'text',
    ...kinds,
  });
  const { pooling, normalize, mostTokens, output, ...place } = options;
  const { signal } = options;
  return loadTask(async (load, readTokenizer) => {
    const model = await load(source, { ...place, preprocessor: {} });
    const [tokenizer, said] = await Promise.all([
      readTokenizer(model.read, place),
      readJson(model.read, '1_Pooling/config.json', signal),
    ]);
    const most = model.config['max_position_embeddings'];
    requireTokenInputs(model.session);
    return new TextEmbedding(model.session, {
      tokenizer,
      pooling: pooling ?? poolingOf(said),
      normalize: normalize ?? true,
      mostTokens: Math.min(
        mostTokens ?? Math.min(typeof most === 'number' ? most : 512, 512),
        fixedWidth(model.session) ?? Number.POSITIVE_INFINITY,
      ),
      output: chooseOutput(model.session.outputs, {
        wanted: output,
        usual: ['sentence_embedding', 'text_embeds', 'last_hidden_state', 'token_embeddings'],
        // Those are of classes, or of words that may be meant.
        fits: ({ name, dtype }) => name !== 'logits' && dtype.startsWith('float'),
        expected: 'last_hidden_state [N, tokens, size], or a vector of its own [N, size]',
      }),
    });
  });
}

/** Reads the pooling from the file that sentence-transformers writes for it. */
function poolingOf(modes: JsonObject = {}): Pooling {
  if (modes['pooling_mode_cls_token'] === true) return 'cls';
  return modes['pooling_mode_lasttoken'] === true ? 'last' : 'mean';
}

interface EmbeddingParts {
  readonly tokenizer: TaskTokenizer;
  readonly pooling: Pooling;
  readonly normalize: boolean;
  readonly mostTokens: number;
  readonly output: string;
}

/** Makes vectors of texts, of which near ones mean the like. */
export class TextEmbedding extends Task {
  /** Turns text into its tokens. */
  readonly tokenizer: TextTokenizer;
  readonly #parts: EmbeddingParts;

  /** @internal */
  constructor(session: Session, parts: EmbeddingParts) {
    super([session], parts.tokenizer);
    this.tokenizer = parts.tokenizer;
    this.#parts = parts;
  }

  /**
   * The vector of each text, in one run, or in as many as the model needs: one that takes no `attention_mask` sees each text alone. Rejects
   * with UsageError for no text, and with the signal's reason.
   */
  async embed(texts: readonly string[], options: CallOptions = {}): Promise<Float32Array[]> {
    checkOptions<CallOptions>('embed', options, { signal: 'signal' });
    if (texts.length === 0) {
      throw new UsageError({ where: 'embed', got: 'no text', expected: 'one or more' });
    }
    const rows = await Promise.all(texts.map((text) => this.#tokensOf(text)));
    const vectors: Float32Array[] = [];
    for (const part of this.#isMasked ? [rows] : rows.map((row) => [row])) {
      for (const { things, count } of batchesFor(this.session, 'input_ids', part)) {
        const { inputs, width } = tokenBatch(this.session, things);
        const { [this.#parts.output]: states } = await this.session.run(inputs, options);
        const lengths = things.map(({ length }) => length);
        vectors.push(...this.#pooled(states, lengths, width).slice(0, count));
      }
    }
    return vectors;
  }

  get #isMasked(): boolean {
    return this.session.inputs.some(({ name }) => name === 'attention_mask');
  }

  async #tokensOf(text: string): Promise<number[]> {
    const { tokenizer, mostTokens } = this.#parts;
    const tokens = await encodeAtMost(tokenizer, text, { mostTokens });
    if (tokens.length > 0) return tokens;
    throw new UsageError({ where: 'embed', got: 'a text without tokens', expected: 'words' });
  }

  #pooled(states: Tensor | undefined, lengths: readonly number[], tokens: number): Float32Array[] {
    const shape = states?.shape ?? [];
    const size = shape.at(-1) ?? 0;
    const isOwn = shape.length === 2;
    const isOfTokens = shape.length === 3 && shape[1] === tokens;
    if (states === undefined || shape[0] !== lengths.length || !(isOwn || isOfTokens)) {
      throw new ShapeError({
        where: `output ${this.#parts.output}`,
        got: `[${shape.join(', ')}] for ${lengths.length} texts of ${tokens} tokens`,
        expected: `[${lengths.length}, ${tokens}, size] or [${lengths.length}, size]`,
        remedy: 'Name the output with the vectors with the option output.',
      });
    }
    const numbers = numbersOf(states);
    const width = isOwn ? 1 : tokens;
    return lengths.map((length, i) => {
      const rowAt = (token: number) => {
        const at = (i * width + token) * size;
        return numbers.subarray(at, at + size);
      };
      const { pooling, normalize } = this.#parts;
      const vector =
        isOwn || pooling === 'cls'
          ? Float64Array.from(rowAt(0))
          : pooling === 'last'
            ? Float64Array.from(rowAt(length - 1))
            : mean(Array.from({ length }, (_, token) => rowAt(token)));
      const norm = normalize ? Math.hypot(...vector) || 1 : 1;
      return Float32Array.from(vector, (value) => value / norm);
    });
  }
}

function mean(rows: readonly ArrayLike<number>[]): Float64Array {
  return Float64Array.from({ length: rows[0]?.length ?? 0 }, (_, i) => {
    return rows.reduce((sum, row) => sum + (row[i] ?? 0), 0) / rows.length;
  });
}

/**
 * Inputs of a model of tokens, by the names that exporters give them: an element for each token.
 * Rows are filled up with 0.
 */
const INPUTS: Readonly<Record<string, (ids: readonly number[]) => readonly number[]>> = {
  input_ids: (ids) => ids,
  attention_mask: (ids) => ids.map(() => 1),
  token_type_ids: (ids) => ids.map(() => 0),
  position_ids: (ids) => ids.map((_, at) => at),
};

interface TokenBatch {
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** The tokens of a row, with what fills it up. */
  readonly width: number;
}

/** Throws ShapeError for a model that takes something else. */
function requireTokenInputs({ inputs }: Pick<Session, 'inputs'>): void {
  const other = inputs.find(
    ({ name, dtype }) => !Object.hasOwn(INPUTS, name) || !(dtype in ARRAYS),
  );
  const isOfTokens = inputs.some(({ name }) => name === 'input_ids');
  if (other === undefined && isOfTokens) return;
  throw new ShapeError({
    where: 'the model',
    got: other
      ? `an input ${other.name}: ${other.dtype} [${other.shape.join(', ')}]`
      : `inputs ${inputs.map(({ name }) => name).join(', ') || 'none'}`,
    expected: `input_ids, and perhaps ${Object.keys(INPUTS).slice(1).join(', ')}, of int64, int32 or float32`,
    remedy: 'loadTaskModel runs models of other kinds.',
  });
}

/** How many tokens a row of a model has at most, where that is fixed. */
function fixedWidth({ inputs }: Pick<Session, 'inputs'>): number | undefined {
  const width = inputs.find(({ name }) => name === 'input_ids')?.shape[1];
  return typeof width === 'number' ? width : undefined;
}

const ARRAYS = {
  int64: (values: readonly number[]) => BigInt64Array.from(values, BigInt),
  int32: (values: readonly number[]) => Int32Array.from(values),
  float32: (values: readonly number[]) => Float32Array.from(values),
};

/** Rows of tokens as a model takes them, the shorter ones filled up. */
function tokenBatch(
  session: Pick<Session, 'inputs'>,
  rows: readonly (readonly number[])[],
): TokenBatch {
  const width = fixedWidth(session) ?? Math.max(...rows.map(({ length }) => length));
  const inputs = session.inputs.map(({ name, dtype }) => {
    const numbers = rows.flatMap((ids) => {
      const own = INPUTS[name]?.(ids) ?? [];
      return [...own, ...Array.from({ length: width - own.length }, () => 0)];
    });
    const kind = dtype as keyof typeof ARRAYS;
    return [name, new Tensor(kind, ARRAYS[kind](numbers), [rows.length, width])] as const;
  });
  return { inputs: Object.fromEntries(inputs), width };
}
