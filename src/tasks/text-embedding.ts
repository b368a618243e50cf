import { BOOLEAN, checkOptions, COUNT, oneOf, SIGNAL } from '../client/check-options.ts';
import type { Session } from '../client/session.ts';
import { Tensor } from '../client/tensor.ts';
import { ShapeError, UsageError } from '../core/errors.ts';
import type { TextTokenizer } from '../text/text-tokenizer.ts';
import { encodeAtMost } from './encode-at-most.ts';
import { numbersOf, outputOf } from './results/numbers.ts';
import { Task } from './task.ts';
import { type JsonObject, loadTask, readJson, type TaskSource } from './task-model.ts';
import { readTokenizer } from './task-tokenizer.ts';
import { type CallOptions, TASK_OPTIONS, type TaskOptions } from './task-options.ts';

/** How numbers of tokens become those of a text: their mean, those of the first token, or of the last one. */
export type Pooling = 'mean' | 'cls' | 'last';

/** How a model that embeds texts is loaded. */
export interface TextEmbeddingOptions extends Omit<TaskOptions, 'preprocessor'> {
  /** Default: what `1_Pooling/config.json` says, where there is one, else `mean`. */
  readonly pooling?: Pooling | undefined;
  /** Whether vectors have the length 1. Default true. */
  readonly normalize?: boolean | undefined;
  /** Tokens of a text that the model sees; what is more is left out. Default: `max_position_embeddings`, at most 512. */
  readonly mostTokens?: number | undefined;
}

/**
 * Loads a model that makes vectors of texts: a folder with `tokenizer.json`, `tokenizer_config.json`, and a model that takes `input_ids`
 * and `attention_mask` and gives `last_hidden_state` (N, tokens, size) or a vector of its own (N, size). Rejects as `Session.load` does,
 * and with DownloadError where the tokenizer is not there.
 */
export async function textEmbedding(
  source: TaskSource,
  options: TextEmbeddingOptions = {},
): Promise<TextEmbedding> {
  const { pooling, normalize, mostTokens, ...place } = options;
  const { file, config, cache, signal } = options;
  const own = { pooling, normalize, mostTokens, file, config, cache };
  const { preprocessor: _, ...kinds } = TASK_OPTIONS;
  checkOptions<typeof own>('textEmbedding', own, {
    ...kinds,
    pooling: oneOf('mean', 'cls', 'last'),
    normalize: BOOLEAN,
    mostTokens: COUNT,
  });
  return loadTask(async (load) => {
    const model = await load(source, { ...place, preprocessor: {} });
    const [tokenizer, said] = await Promise.all([
      readTokenizer(model.read, signal),
      readJson(model.read, '1_Pooling/config.json', signal),
    ]);
    const most = model.config['max_position_embeddings'];
    return new TextEmbedding(model.session, {
      tokenizer,
      pooling: pooling ?? poolingOf(said),
      normalize: normalize ?? true,
      mostTokens: mostTokens ?? Math.min(typeof most === 'number' ? most : 512, 512),
    });
  });
}

/** As sentence-transformers writes it. */
function poolingOf(modes: JsonObject = {}): Pooling {
  if (modes['pooling_mode_cls_token'] === true) return 'cls';
  return modes['pooling_mode_lasttoken'] === true ? 'last' : 'mean';
}

interface EmbeddingParts {
  readonly tokenizer: TextTokenizer;
  readonly pooling: Pooling;
  readonly normalize: boolean;
  readonly mostTokens: number;
}

/** Makes vectors of texts, of which near ones mean the like. */
export class TextEmbedding extends Task {
  /** Turns text into its tokens. */
  readonly tokenizer: TextTokenizer;
  readonly #parts: EmbeddingParts;

  /** @internal */
  constructor(session: Session, parts: EmbeddingParts) {
    super([session]);
    this.tokenizer = parts.tokenizer;
    this.#parts = parts;
  }

  /** The vector of each text, in one run. Rejects with UsageError for no text, and with the signal's reason. */
  async embed(texts: readonly string[], options: CallOptions = {}): Promise<Float32Array[]> {
    checkOptions<CallOptions>('embed', options, { signal: SIGNAL });
    if (texts.length === 0) {
      throw new UsageError({ where: 'embed', got: 'no text', expected: 'one or more' });
    }
    const rows = texts.map((text) => this.#tokensOf(text));
    const width = Math.max(...rows.map(({ length }) => length));
    const ids = new BigInt64Array(rows.length * width);
    const mask = new BigInt64Array(rows.length * width);
    for (const [i, row] of rows.entries()) {
      for (const [k, id] of row.entries()) {
        ids[i * width + k] = BigInt(id);
        mask[i * width + k] = 1n;
      }
    }
    const shape = [rows.length, width];
    const given: Readonly<Record<string, BigInt64Array>> = {
      input_ids: ids,
      attention_mask: mask,
      token_type_ids: new BigInt64Array(ids.length),
    };
    const inputs = this.session.inputs.map(({ name }) => {
      const data = given[name];
      if (data !== undefined) return [name, new Tensor('int64', data, shape)] as const;
      const expected = Object.keys(given).join(', ');
      throw new ShapeError({ where: 'the model', got: `an input ${name}`, expected });
    });
    const outputs = await this.session.run(Object.fromEntries(inputs), options);
    const states = outputOf(outputs, ['sentence_embedding', 'last_hidden_state']);
    return this.#pooled(
      states,
      rows.map(({ length }) => length),
    );
  }

  #tokensOf(text: string): number[] {
    const { tokenizer, mostTokens } = this.#parts;
    const tokens = encodeAtMost(tokenizer, text, { mostTokens });
    if (tokens.length > 0) return tokens;
    throw new UsageError({ where: 'embed', got: 'a text without tokens', expected: 'words' });
  }

  #pooled(states: Tensor, lengths: readonly number[]): Float32Array[] {
    const numbers = numbersOf(states);
    const size = states.shape.at(-1) ?? 0;
    const width = states.shape.length === 3 ? (states.shape[1] ?? 0) : 1;
    return lengths.map((length, i) => {
      const rowAt = (token: number) => {
        const at = (i * width + token) * size;
        return numbers.subarray(at, at + size);
      };
      const { pooling, normalize } = this.#parts;
      const isOwn = states.shape.length < 3;
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
