import { DeviceTensor } from '../client/device-tensor.ts';
import type { Inputs } from '../client/input-value.ts';
import type { Session } from '../client/session.ts';
import { Tensor } from '../client/tensor.ts';
import { UnsupportedError } from '../core/errors.ts';
import { CHUNK, OPTIONS, SETTINGS, WORD_BITS } from '../core/text-layout.ts';
import type { Sampling } from './sampling.ts';

/** Keys and values of a text's tokens, on the device. Whoever passes them to a call gets others back. */
export type Caches = Readonly<Record<string, DeviceTensor>>;

/** What is known after some tokens. */
export interface Reached {
  readonly caches: Caches;
  /** Logits of what comes next, (1, vocabulary). */
  readonly logits: DeviceTensor;
}

/** A chunk of tokens that was begun; its elements come when the device has them. */
export interface Begun extends Reached {
  /** int32 (1, CHUNK). */
  readonly tokens: DeviceTensor;
  /** Logarithms of the probabilities that the model gave them, float32 (1, CHUNK). */
  readonly logprobs: DeviceTensor;
  /** How often each token was generated so far. */
  readonly counts: DeviceTensor;
}

/** What a chunk of tokens is generated from, and how. */
export interface StepOrder extends Reached {
  /** At most CHUNK. */
  readonly count: number;
  /** The position of the first of them. */
  readonly position: number;
  readonly sampling: Sampling;
  /** What penalties go by; undefined for those of which nothing is minded. */
  readonly penalties: Penalties | undefined;
  /** Bits of the tokens that may come, for one token. */
  readonly allowed: Uint32Array | undefined;
}

/** Tensors (1, vocabulary) of a generation. */
export interface Penalties {
  readonly bias: Tensor;
  /** Which tokens the prompt has. */
  readonly seen: Tensor;
  readonly counts: Tensor | DeviceTensor;
}

/** Numbers of tokens that prompts are read in, so that few sizes of kernels are compiled. */
const READ_LENGTHS = [1, 16, 64, 256];

/** The functions of a program that generates text, as one session has them. */
export class TextProgram {
  readonly session: Session;
  /** How many tokens there are. */
  readonly vocabulary: number;
  readonly #names: readonly string[];
  #blank: Promise<Record<string, DeviceTensor>> | undefined;

  /** Throws UnsupportedError for a session of another program. */
  constructor(session: Session) {
    const { inputs, functions } = session;
    const vocabulary = inputs.find(({ name }) => name === 'logits')?.shape?.[1];
    this.#names = inputs.map(({ name }) => name).filter((name) => /^cache\d+$/.test(name));
    const isText = ['allocate', 'grow', 'blank', 'prefill', 'main'].every((name) =>
      functions.includes(name),
    );
    if (!isText || typeof vocabulary !== 'number') {
      throw new UnsupportedError({
        where: 'text model',
        got: `an executable with the functions ${functions.join(', ')}`,
        expected: 'one that generates text',
        remedy: 'Make it with `weft text`.',
      });
    }
    this.session = session;
    this.vocabulary = vocabulary;
  }

  /** Empty caches with room for some positions. */
  allocate(capacity: number): Promise<Caches> {
    return this.session.run({ rows: 1, capacity }, { function: 'allocate', keep: 'device' });
  }

  /** The same caches with more room. */
  grow(caches: Caches, capacity: number): Promise<Caches> {
    const donate = [...this.#names];
    return this.session.run({ capacity, ...caches }, { function: 'grow', keep: 'device', donate });
  }

  /** Reads tokens from a position on, for which there is room in the caches. Donates these. */
  async read(
    caches: Caches,
    tokens: readonly number[],
    { position, capacity }: { readonly position: number; readonly capacity: number },
  ): Promise<Reached> {
    let reached: Reached | undefined;
    for (let begin = 0; begin < tokens.length; ) {
      const room = readLength(tokens.length - begin, capacity - position - begin);
      const length = Math.min(tokens.length - begin, room);
      const ids = Int32Array.from({ length: room }, (_, i) => tokens[begin + i] ?? 0);
      reached?.logits.dispose();
      const { logits, ...next } = await this.session.run(
        {
          tokens: new Tensor('int32', ids, [1, room]),
          first: int32([position + begin]),
          lengths: int32([length]),
          ...(reached?.caches ?? caches),
        },
        { function: 'prefill', keep: 'device', donate: [...this.#names] },
      );
      reached = { caches: next, logits: logits as DeviceTensor };
      begin += length;
    }
    if (reached === undefined) throw new Error('internal: no tokens to read');
    return reached;
  }

  /** Begins to generate tokens. Donates what it gets on the device. */
  async step(order: StepOrder): Promise<Begun> {
    const { count, position, sampling, penalties, allowed, logits, caches } = order;
    this.#blank ??= this.session.run({ rows: 1 }, { function: 'blank', keep: 'device' });
    const blank = await this.#blank;
    const { vocabulary } = this;
    const words = Math.ceil(vocabulary / WORD_BITS);
    const inputs: Inputs = {
      count,
      options: sampling.options + (allowed === undefined ? 0 : OPTIONS.grammar),
      settings: new Tensor('float32', Float32Array.from(sampling.settings), [1, SETTINGS.length]),
      bias: penalties?.bias ?? blank['bias'],
      allowed: allowed ? new Tensor('uint32', allowed, [1, words]) : blank['allowed'],
      keys: new Tensor('uint32', Uint32Array.from(sampling.key), [1, 2]),
      logits,
      first: int32([position]),
      seen: penalties?.seen ?? blank['counts'],
      counts: penalties?.counts ?? blank['counts'],
      ...caches,
    } as Inputs;
    const donate = [
      'logits',
      ...this.#names,
      ...(penalties?.counts instanceof DeviceTensor ? ['counts'] : []),
    ];
    const {
      tokens,
      logprobs,
      logits: next,
      counts,
      ...kept
    } = (await this.session.run(inputs, {
      keep: 'device',
      donate,
    })) as Record<string, DeviceTensor> & Omit<Begun, 'caches'>;
    return { tokens, logprobs, logits: next, counts, caches: kept };
  }

  /** The most that {@link step} generates. */
  get chunk(): number {
    return CHUNK;
  }
}

export function disposeCaches(caches: Caches): void {
  for (const cache of Object.values(caches)) cache.dispose();
}

/** How many tokens are read next, of so many left: with padding where that still has room. */
function readLength(left: number, room: number): number {
  const padded = READ_LENGTHS.find((length) => length >= left && length <= room);
  return padded ?? READ_LENGTHS.findLast((length) => length <= Math.min(left, room)) ?? 1;
}

const int32 = (values: readonly number[]): Tensor =>
  new Tensor('int32', Int32Array.from(values), [values.length]);
