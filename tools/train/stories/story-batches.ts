import { Tensor } from '../../../src/client/index.ts';
import { seededRandom } from '../../../src/core/random.ts';
import { type BytePairs, END } from './byte-pairs.ts';
import { type CastSizes, type Range, type Story, storyText, writeStory } from './story-grammar.ts';

/** Stories of this many of 16 hashes are never trained on. */
const HELD_OUT = 1;
const HASHES = 16;
/** How much a token of an answer weighs; others weigh 1. */
export const ANSWER_WEIGHT = 8;
/** Stories to choose from, so that rows become full. */
const POOL = 24;

/**
 * Returns true for a story that is for tests only: by a hash of its events (FNV-1a), whatever is
 * asked.
 */
export function isHeldOut({ events }: Story): boolean {
  let hash = 0x811c9dc5;
  for (let i = 0; i < events.length; i++) hash = Math.imul(hash ^ events.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  return (hash >>> 0) % HASHES < HELD_OUT;
}

/** Sentences of a story. */
const SENTENCES: Range = [2, 7];
const QUESTIONS = 6;

/** How stories are drawn: some as it says, the others ordinary ones. */
interface StoryMix {
  /** The part of all stories that are as it says, from 0 to 1. */
  readonly share: number;
  /** Their sentences; 2 to 7 where it is left out. */
  readonly sentences?: Range;
  /** How many take part; few of all where it is left out. */
  readonly cast?: CastSizes;
  /** True if each of their sentences tells of one person by name. */
  readonly isPlain?: boolean;
}

/** Stories of up to 6 questions, one after the other, of one side of the split. */
export class StorySource {
  readonly #random: () => number;
  readonly #side: Side;
  readonly #mix: StoryMix;

  constructor(seed: number, side: Side, mix: StoryMix = { share: 0 }) {
    this.#random = seededRandom(seed);
    this.#side = side;
    this.#mix = mix;
  }

  next(): Story {
    for (;;) {
      // Where all are ordinary nothing is drawn for the others: the stories of tests stay the same.
      const { share, ...mix } = this.#mix;
      const isOrdinary = share === 0 || this.#random() >= share;
      const { sentences: [least, most] = SENTENCES, ...plan } = isOrdinary ? {} : mix;
      const sentences = least + Math.floor(this.#random() * (most - least + 1));
      const story = writeStory(this.#random, { sentences, questions: QUESTIONS, ...plan });
      if (isHeldOut(story) === (this.#side === 'held out')) return story;
    }
  }
}

type Side = 'training' | 'held out';

/** Tokens of whole stories in rows [rows, length], padded with the end of text. */
interface StoryBatch {
  readonly tokens: Int32Array;
  /** The token that follows each. */
  readonly targets: Int32Array;
  /** How much each target counts; all sum to 1, padding counts nothing. */
  readonly shares: Float32Array;
  /** The story of its row that each token belongs to; tokens see only their own. */
  readonly stories: Int32Array;
}

interface BatchOptions {
  readonly pairs: BytePairs;
  readonly seed: number;
  readonly side?: Side;
  /** Ordinary stories where it is left out. */
  readonly mix?: StoryMix;
}

interface BatchShape {
  readonly rows: number;
  readonly length: number;
}

/** A batch as inputs of the programs. */
export function batchInputs(batch: StoryBatch, { rows, length }: BatchShape) {
  const ints = (values: Int32Array): Tensor => new Tensor('int32', values, [rows, length]);
  return {
    tokens: ints(batch.tokens),
    targets: ints(batch.targets),
    shares: new Tensor('float32', batch.shares, [rows, length]),
    stories: ints(batch.stories),
  };
}

interface Encoded {
  readonly ids: readonly number[];
  readonly weights: readonly number[];
}

/** A story from the end of text to the end of text, with the weight of each token. */
function encodeStory(story: Story, pairs: BytePairs): Encoded {
  const ids = [END];
  const weights = [0];
  const add = (text: string, weight: number): void => {
    for (const id of pairs.encode(text)) {
      ids.push(id);
      weights.push(weight);
    }
  };
  add(story.events, 1);
  for (const { question, answer } of story.questions) {
    add(`\n${question}`, 1);
    add(answer, ANSWER_WEIGHT);
  }
  return { ids: [...ids, END], weights: [...weights, 1] };
}

/** The batch of a step: the same for the same seed, step and tokenizer. */
export function storyBatch(
  { rows, length }: BatchShape,
  { pairs, seed, side = 'training', mix }: BatchOptions,
): StoryBatch {
  const source = new StorySource(seed, side, mix);
  const next = (): Encoded => {
    for (;;) {
      const encoded = encodeStory(source.next(), pairs);
      if (encoded.ids.length - 1 <= length) return encoded;
    }
  };
  const pool = Array.from({ length: POOL }, next);
  const count = rows * length;
  const batch = {
    tokens: new Int32Array(count).fill(END),
    targets: new Int32Array(count).fill(END),
    shares: new Float32Array(count),
    stories: new Int32Array(count).fill(-1),
  };
  for (let row = 0; row < rows; row++) {
    let [at, story] = [0, 0];
    for (;;) {
      const found = longestThatFits(pool, length - at);
      if (found === undefined) break;
      place(batch, found, { at: row * length + at, story: story++ });
      at += found.ids.length - 1;
      pool.push(next());
    }
  }
  const sum = batch.shares.reduce((a, b) => a + b, 0);
  return { ...batch, shares: batch.shares.map((share) => share / sum) };
}

/** Takes the first story of the pool, or if it does not fit, the longest that does. */
function longestThatFits(pool: Encoded[], room: number): Encoded | undefined {
  const fits = ({ ids }: Encoded): boolean => ids.length - 1 <= room;
  const [first] = pool;
  if (first !== undefined && fits(first)) return pool.shift();
  const best = pool
    .filter(fits)
    .reduce<Encoded | undefined>(
      (a, b) => (a === undefined || b.ids.length > a.ids.length ? b : a),
      undefined,
    );
  if (best !== undefined) pool.splice(pool.indexOf(best), 1);
  return best;
}

function place(
  batch: StoryBatch,
  { ids, weights }: Encoded,
  { at, story }: { readonly at: number; readonly story: number },
): void {
  for (let i = 0; i + 1 < ids.length; i++) {
    batch.tokens[at + i] = ids[i] ?? END;
    batch.targets[at + i] = ids[i + 1] ?? END;
    batch.shares[at + i] = weights[i + 1] ?? 0;
    batch.stories[at + i] = story;
  }
}

/** Texts that the tokenizer learns from. */
export function tokenizerTexts(seed: number, count: number): string[] {
  const source = new StorySource(seed, 'training');
  return Array.from({ length: count }, () => storyText(source.next()));
}
