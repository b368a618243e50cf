import { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { Inputs } from '../../client/values/input-value.ts';
import type { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { isDType } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { numbersOf } from '../results/numbers.ts';

/** The encoder's output for a window: (1, frames, size). */
export type EncoderStates = Tensor | DeviceTensor;

export interface DecoderModels {
  /** Reads tokens from their beginning; a merged one reads further ones too. */
  readonly first: Session;
  /** Reads further tokens beside what the first one kept; undefined: all tokens are read again for each. */
  readonly next: Session | undefined;
}

const PAST = 'past_key_values.';
const PRESENT = 'present.';
/** Caches of what the encoder made, which do not grow. */
const isOfEncoder = (name: string): boolean => name.includes('.encoder.');

/** Generates the tokens of one window, one after the other. Keys and values stay on the device. */
export class Decoder {
  readonly #models: DecoderModels;
  readonly #states: EncoderStates;
  readonly #read: number[] = [];
  /** Keys and values, by the names of the inputs that take them. */
  readonly #caches = new Map<string, DeviceTensor>();

  constructor(models: DecoderModels, states: EncoderStates) {
    this.#models = models;
    this.#states = states;
  }

  /** Reads tokens behind those that were read. Resolves to the logits of what comes next, for each token of the vocabulary. */
  async read(
    tokens: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<Float32Array | Float64Array> {
    const { first, next } = this.#models;
    const isFirst = this.#read.length === 0 || next === undefined;
    this.#read.push(...tokens);
    const session = isFirst ? first : next;
    const given = isFirst ? this.#read : tokens;
    const inputs = session.inputs.map(({ name, dtype, shape }) => [
      name,
      this.#input(name, { dtype, shape, given, isFirst }),
    ]);
    const kept = session.outputs.flatMap(({ name }) =>
      name.startsWith(PRESENT) && next !== undefined ? [name] : [],
    );
    const options = { signal, keep: kept };
    const results = await session.run(Object.fromEntries(inputs) as Inputs, options);
    this.#keep(results, isFirst);
    const { logits } = results;
    if (!(logits instanceof Tensor)) {
      const got = `outputs ${Object.keys(results).join(', ')}`;
      throw new ShapeError({ where: 'the decoder', got, expected: 'logits' });
    }
    const vocabulary = logits.shape.at(-1) ?? 0;
    const numbers = numbersOf(logits);
    return numbers.subarray(numbers.length - vocabulary);
  }

  /** Frees what was kept. Idempotent. */
  dispose(): void {
    for (const cache of this.#caches.values()) cache.dispose();
    this.#caches.clear();
  }

  #input(name: string, { dtype, shape, given, isFirst }: InputOrder): Tensor | DeviceTensor {
    const before = this.#read.length - given.length;
    const integers = (values: readonly number[], dims: readonly number[]): Tensor =>
      new Tensor('int64', BigInt64Array.from(values, BigInt), dims);
    if (name === 'input_ids' || name === 'decoder_input_ids') {
      return integers(given, [1, given.length]);
    }
    if (name === 'encoder_hidden_states') return this.#states;
    if (name === 'use_cache_branch') return new Tensor('bool', Uint8Array.of(isFirst ? 0 : 1), [1]);
    if (name === 'encoder_attention_mask' || name === 'decoder_attention_mask') {
      const count = name.startsWith('e') ? (this.#states.shape[1] ?? 0) : this.#read.length;
      return integers(new Array<number>(count).fill(1), [1, count]);
    }
    if (name === 'cache_position') {
      const positions = given.map((_, i) => before + i);
      return integers(positions, [given.length]);
    }
    if (!name.startsWith(PAST) || !isDType(dtype)) {
      const got = `an input ${name}: ${dtype} [${shape.join(', ')}]`;
      const expected = 'input_ids, encoder_hidden_states, past_key_values and use_cache_branch';
      throw new ShapeError({ where: 'the decoder', got, expected });
    }
    const kept = this.#caches.get(name);
    if (kept !== undefined) return kept;
    // Nothing is read of it before something was kept.
    const dims = shape.map((dim, i) => (typeof dim === 'number' ? dim : i === 0 ? 1 : 0));
    return new Tensor(dtype, HostTensor.zeros(dtype, dims).data, dims);
  }

  #keep(results: Readonly<Record<string, Tensor | DeviceTensor>>, isFirst: boolean): void {
    for (const [output, tensor] of Object.entries(results)) {
      if (!(tensor instanceof DeviceTensor)) continue;
      const name = PAST + output.slice(PRESENT.length);
      // Further steps give empty ones for what does not grow.
      if (!isFirst && isOfEncoder(name)) {
        tensor.dispose();
        continue;
      }
      this.#caches.get(name)?.dispose();
      this.#caches.set(name, tensor);
    }
  }
}

interface InputOrder {
  readonly dtype: string;
  readonly shape: readonly (number | string)[];
  readonly given: readonly number[];
  readonly isFirst: boolean;
}
