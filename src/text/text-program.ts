import type { DeviceTensor } from '../client/values/device-tensor.ts';
import type { Inputs } from '../client/values/input-value.ts';
import type { Session } from '../client/session.ts';
import { Tensor } from '../client/values/tensor.ts';
import { type DType, dtypeInfo } from '../core/tensor/dtype.ts';
import { UnsupportedError } from '../core/errors.ts';
import { CHUNK, GUESSES, OPTIONS, SETTINGS, WORD_BITS } from '../core/text-layout.ts';
import type { Sampling } from './sampling.ts';

/** Keys and values of the tokens of some texts, on the device. */
export type Caches = Readonly<Record<string, DeviceTensor>>;

/** The state of some texts after the tokens that were read. */
interface Reached {
  readonly caches: Caches;
  /** Logits of what comes next, (rows, vocabulary). */
  readonly logits: DeviceTensor;
}

/** A chunk of tokens that was begun; its elements come when the device has them. */
export interface Pending extends Reached {
  /**
   * Tokens, and behind them the bits of the logarithms of their probabilities, int32 (rows, 2 CHUNK). {@link readDrawn}
   * takes them apart.
   */
  readonly drawn: DeviceTensor;
  /** How often each token was generated so far. */
  readonly counts: DeviceTensor;
}

/** Logits, caches and settings by which the next tokens of some texts are drawn. */
export interface DrawOrder extends Reached {
  /** The position of the first token, of each text. */
  readonly positions: readonly number[];
  /** One for each text, or one for all of them. */
  readonly samplings: readonly Sampling[];
  /** Tensors for penalties and biases; undefined for texts that have neither. */
  readonly penalties: Penalties | undefined;
  /** Bits of the tokens that may come, for one token of one text. */
  readonly allowed: Uint32Array | undefined;
  /** Lets the program overwrite the caches; else it copies them. */
  readonly isOwn: boolean;
  /** The empty caches of {@link TextProgram.blank}, for several texts. */
  readonly blank?: Blank | undefined;
}

/** Zeros on the device in the place of what is not minded. */
export type Blank = Readonly<Record<string, DeviceTensor>>;

/** Tensors (rows, vocabulary) on the device. */
export interface Penalties {
  readonly bias: DeviceTensor;
  /** Which tokens the prompt has. */
  readonly seen: DeviceTensor;
  /** How often each token was generated. */
  readonly counts: DeviceTensor;
}

/** The values that penalties of one text depend on. */
interface PenaltyRow {
  /** Summands of the logits, by token. */
  readonly bias: ReadonlyMap<number, number>;
  readonly prompt: readonly number[];
  /** Tokens that were generated before. */
  readonly generated: readonly number[];
}

/** Tokens of a chunk of one text, and the logarithms of their probabilities. */
export interface Drawn {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
}

/** The place in the caches to which tokens are read. */
interface ReadPlace {
  readonly positions: readonly number[];
  /** Positions that there is room for. */
  readonly capacity: number;
  /** Lets the program overwrite the caches; else it copies them. */
  readonly isOwn: boolean;
}

/** Numbers of tokens that prompts are read in, so that few sizes of kernels are compiled. */
const READ_LENGTHS = [1, 16, 64, 256];

const FUNCTIONS = ['allocate', 'grow', 'cut', 'blank', 'hold', 'prefill', 'main', 'verify'];

/** The functions of a program that generates text, as one session has them. */
export class TextProgram {
  readonly session: Session;
  readonly vocabulary: number;
  /** The most tokens that {@link step} generates. */
  readonly chunk = CHUNK;
  /** The most tokens that {@link verify} decodes. */
  readonly guesses = GUESSES;
  /** Bytes of one position of one text in all caches. */
  readonly bytesPerPosition: number;
  readonly cacheDTypes: ReadonlyMap<string, string>;
  readonly #names: readonly string[];
  #blank: Promise<Blank> | undefined;

  /** Throws UnsupportedError for a session of another program. */
  constructor(session: Session) {
    const { inputs, functions } = session;
    const vocabulary = inputs.find(({ name }) => name === 'logits')?.shape?.[1];
    const caches = inputs.filter(({ name }) => /^cache\d+$/.test(name));
    this.#names = caches.map(({ name }) => name);
    const isText = FUNCTIONS.every((name) => functions.includes(name));
    if (!isText || typeof vocabulary !== 'number') {
      throw new UnsupportedError({
        where: 'text model',
        got: `an executable with the functions ${functions.join(', ')}`,
        expected: `one that generates text, with ${FUNCTIONS.join(', ')}`,
        remedy: 'Make it with `weft text` of this version.',
      });
    }
    this.session = session;
    this.cacheDTypes = new Map(caches.map(({ name, dtype }) => [name, dtype]));
    this.vocabulary = vocabulary;
    this.bytesPerPosition = caches.reduce((sum, { dtype, shape }) => {
      const elements = Number(shape?.[1]) * Number(shape?.[3]);
      return sum + elements * dtypeInfo(dtype as DType).byteLength;
    }, 0);
  }

  /** Empty caches with room for some positions of some texts. */
  allocate(capacity: number, rows = 1): Promise<Caches> {
    return this.session.run({ rows, capacity }, { function: 'allocate', keep: 'device' });
  }

  /** The same caches with more room. */
  grow(
    caches: Caches | Readonly<Record<string, Tensor>>,
    capacity: number,
    isOwn: boolean,
  ): Promise<Caches> {
    const options = {
      function: 'grow',
      keep: 'device',
      donate: isOwn ? [...this.#names] : [],
    } as const;
    return this.session.run({ capacity, ...caches }, options);
  }

  /** The first positions of caches. */
  async cut(caches: Caches, length: number): Promise<Record<string, Tensor>> {
    return await this.session.run({ length, ...caches }, { function: 'cut' });
  }

  /** Two words that tell its weights from others. */
  async fingerprint(): Promise<readonly number[]> {
    const { fingerprint } = await this.session.run({}, { function: 'fingerprint' });
    return Array.from(fingerprint?.data ?? [], Number);
  }

  /** Reads tokens of one text from a position on, for which there is room in the caches. */
  async read(caches: Caches, tokens: readonly number[], place: ReadPlace): Promise<Reached> {
    const [position = 0] = place.positions;
    let reached: Reached | undefined;
    for (let end = 0; end < tokens.length; ) {
      const free = place.capacity - position - end;
      const room = this.readLength(tokens.length - end, free, end);
      // Where the caches end sooner than a piece, some tokens are read again: that takes no longer than padding.
      const begin = end - Math.max(0, room - free);
      const part = tokens.slice(begin, begin + room);
      reached?.logits.dispose();
      reached = await this.prefill(reached?.caches ?? caches, [part], {
        room,
        positions: [position + begin],
        isOwn: place.isOwn || reached !== undefined,
      });
      end = begin + part.length;
    }
    if (reached === undefined) throw new Error('internal: no tokens to read');
    return reached;
  }

  /** Reads `room` tokens of each text at most, where it has so many. */
  async prefill(
    caches: Caches,
    rows: readonly (readonly number[])[],
    { positions, room, isOwn }: Omit<ReadPlace, 'capacity'> & { readonly room: number },
  ): Promise<Reached> {
    const ids = rows.flatMap((row) => Array.from({ length: room }, (_, i) => row[i] ?? 0));
    const { logits, ...next } = await this.session.run(
      {
        tokens: int32(ids, [rows.length, room]),
        first: int32(positions),
        lengths: int32(rows.map(({ length }) => length)),
        ...caches,
      },
      { function: 'prefill', keep: 'device', donate: isOwn ? [...this.#names] : [] },
    );
    return { caches: next, logits: logits as DeviceTensor };
  }

  /**
   * How many tokens are read next, of so many left: with padding where that still has room, or has it with some of those `before`,
   * which are read again.
   */
  readLength(left: number, room: number, before = 0): number {
    const padded = READ_LENGTHS.find((length) => length >= left && length <= room + before);
    return padded ?? READ_LENGTHS.findLast((length) => length <= Math.min(left, room)) ?? 1;
  }

  /** Takes what penalties go by to the device. */
  async hold(rows: readonly PenaltyRow[]): Promise<Penalties> {
    const { vocabulary } = this;
    const size = rows.length * vocabulary;
    const [bias, seen] = [new Float32Array(size), new Int32Array(size)];
    const counts = new Int32Array(size);
    for (const [row, { bias: added, prompt, generated }] of rows.entries()) {
      const at = row * vocabulary;
      for (const [id, value] of added) bias[at + id] = value;
      for (const id of prompt) seen[at + id] = 1;
      for (const id of generated) counts[at + id] = (counts[at + id] ?? 0) + 1;
    }
    const shape = [rows.length, vocabulary];
    const inputs = {
      bias: new Tensor('float32', bias, shape),
      seen: new Tensor('int32', seen, shape),
      counts: new Tensor('int32', counts, shape),
    };
    const held = await this.session.run(inputs, { function: 'hold', keep: 'device' });
    return held as unknown as Penalties;
  }

  /** Begins to generate tokens. Donates what is there for it alone. */
  step({ count, ...order }: DrawOrder & { readonly count: number }): Promise<Pending> {
    return this.#draw('main', { count }, order);
  }

  /**
   * Begins to verify {@link guesses} tokens that may come in a text: as many tokens are drawn as of them were right, the first one
   * being whatever comes, and one more, which is not decoded yet. Donates as {@link step} does.
   */
  verify({ draft, ...order }: DrawOrder & { readonly draft: readonly number[] }): Promise<Pending> {
    const guesses = Array.from({ length: GUESSES }, (_, i) => draft[i] ?? 0);
    return this.#draw('verify', { draft: int32(guesses, [1, GUESSES]) }, order);
  }

  async #draw(fn: string, args: Inputs, order: DrawOrder): Promise<Pending> {
    const { positions, samplings, penalties, allowed, logits, caches, isOwn } = order;
    const rows = positions.length;
    const blank = order.blank ?? (await (this.#blank ??= this.blank(1)));
    const words = Math.ceil(this.vocabulary / WORD_BITS);
    const [common] = samplings;
    const perRow = <Value>(value: (sampling: Sampling) => readonly Value[]): Value[] =>
      Array.from({ length: rows }, (_, row) => {
        const sampling = samplings[row] ?? common;
        return sampling === undefined ? [] : value(sampling);
      }).flat();
    const settings = Float32Array.from(perRow((sampling) => sampling.settings));
    const inputs: Inputs = {
      ...args,
      options: (common?.options ?? 0) + (allowed === undefined ? 0 : OPTIONS.grammar),
      settings: new Tensor('float32', settings, [rows, SETTINGS.length]),
      bias: penalties?.bias ?? blank['bias'],
      allowed: allowed ? new Tensor('uint32', allowed, [1, words]) : blank['allowed'],
      keys: new Tensor('uint32', Uint32Array.from(perRow(({ key }) => key)), [rows, 2]),
      logits,
      first: int32(positions),
      seen: penalties?.seen ?? blank['counts'],
      counts: penalties?.counts ?? blank['counts'],
      ...caches,
    } as Inputs;
    const own = isOwn ? this.#names : [];
    const donate = ['logits', ...own, ...(penalties ? ['counts'] : [])];
    const {
      drawn,
      logits: next,
      counts,
      ...kept
    } = (await this.session.run(inputs, {
      function: fn,
      keep: 'device',
      donate,
    })) as Record<string, DeviceTensor> & Omit<Pending, 'caches'>;
    return { drawn, logits: next, counts, caches: kept };
  }

  /**
   * Zeros in place of the penalties and masks of `rows` texts that have none. The caller disposes
   * of them.
   */
  blank(rows: number): Promise<Blank> {
    return this.session.run({ rows }, { function: 'blank', keep: 'device' });
  }
}

export function disposePenalties({ bias, seen, counts }: Penalties): void {
  for (const tensor of [bias, seen, counts]) tensor.dispose();
}

export function disposeCaches(caches: Caches): void {
  for (const cache of Object.values(caches)) cache.dispose();
}

/** Reads a chunk, all of it in one go, and disposes of it. Gives what each text got. */
export async function readDrawn(drawn: DeviceTensor): Promise<readonly Drawn[]> {
  const { data, shape } = await drawn.read();
  drawn.dispose();
  const words = data as Int32Array;
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  return Array.from({ length: shape[0] ?? 0 }, (_, row) => {
    const [begin, middle, end] = [0, 1, 2].map((part) => (2 * row + part) * CHUNK);
    return {
      ids: Array.from(words.subarray(begin, middle)),
      logprobs: Array.from(floats.subarray(middle, end)),
    };
  });
}

const int32 = (values: readonly number[], shape = [values.length]): Tensor =>
  new Tensor('int32', Int32Array.from(values), shape);
