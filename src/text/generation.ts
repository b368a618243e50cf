import { DeviceTensor } from '../client/device-tensor.ts';
import { Tensor } from '../client/tensor.ts';
import { RuntimeError } from '../core/errors.ts';
import type { Sampling } from './sampling.ts';
import type { StopStrings } from './stop-strings.ts';
import type { StreamDecoder } from './stream-decoder.ts';
import type { TextCache } from './text-cache.ts';
import type { Penalties } from './text-program.ts';
import { WORD_BITS } from '../core/text-layout.ts';

/** Why a text ended: at a token or a string that ends it, or because it is as long as was asked for. */
export type FinishReason = 'stop' | 'length';

/** What may come next in a text, such as an automaton of a grammar. */
export interface TokenConstraint {
  /** Sets bit `id % 32` of word `id / 32` for each token that may come next, and clears all others. */
  mask(into: Uint32Array): void;
  /** Goes on by a token; gives whether it was allowed. */
  accept(id: number): boolean;
  /** Tokens that spell what must come next; none where there is a choice. */
  forced?(limit?: number): readonly number[];
}

/** Tokens of forced text that are read in one go at most. */
const MOST_FORCED = 64;

/** A token that was generated. */
export interface GeneratedToken {
  /** Its number in the vocabulary; -1 for text that is left at the end. */
  readonly id: number;
  /** The logarithm of the probability that the model gave it. */
  readonly logprob: number;
  /** The text that it completes, perhaps none. */
  readonly text: string;
}

export interface GenerationOrder {
  readonly cache: TextCache;
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly vocabulary: number;
  /** Tokens that end a text. */
  readonly ends: ReadonlySet<number>;
  readonly decoder: StreamDecoder;
  readonly stops: StopStrings;
  readonly constraint: TokenConstraint | undefined;
  readonly signal: AbortSignal | undefined;
  /** What is left of a text that is as long as the model sees, to go on with; undefined: an error. */
  readonly slide: ((tokens: readonly number[]) => readonly number[]) | undefined;
  readonly context: number;
  /** Tokens that one call generates at most. */
  readonly chunk: number;
}

/** Generates tokens of a text one after the other; returns why it ended. */
export async function* generateTokens(
  order: GenerationOrder,
): AsyncGenerator<GeneratedToken, FinishReason> {
  const { cache, maxTokens, sampling, signal, context, slide } = order;
  signal?.throwIfAborted();
  let penalties = penaltiesOf(order);
  let text = [...order.prompt];
  if (slide) {
    while (text.length > context) text = [...slide(text)];
  }
  await cache.read(text);
  let generated = 0;
  /** A chunk that the device works on while the page reads the one before. */
  let ahead: Ahead | undefined;
  const begin = async (position: number, most: number): Promise<Ahead> => {
    // A text that is as long as the context asks for one more, which the cache refuses.
    const count = Math.max(1, Math.min(most, order.chunk, context - position));
    const begun = await cache.begin(count, { position, sampling, penalties, allowed: undefined });
    if (penalties) penalties = { ...penalties, counts: begun.counts };
    return { tokens: begun.tokens, logprobs: begun.logprobs, count };
  };
  try {
    while (generated < maxTokens) {
      signal?.throwIfAborted();
      if (text.length >= context && slide !== undefined) {
        text = [...slide(text)];
        await cache.read(text);
      }
      const left = maxTokens - generated;
      const forced = order.constraint?.forced?.(Math.min(left, MOST_FORCED)) ?? [];
      let read: ReadTokens;
      if (forced.length > 0) {
        // The next step reads them in one go.
        for (const id of forced) order.constraint?.accept(id);
        read = { ids: forced, logprobs: [] };
      } else if (order.constraint) {
        const step = await constrained(order, order.constraint, { text, penalties });
        ({ read, penalties } = step);
      } else {
        const chunk: Ahead = ahead ?? (await begin(text.length, left));
        const next = text.length + chunk.count;
        ahead = undefined;
        if (left > chunk.count && next < context) ahead = await begin(next, left - chunk.count);
        read = await readTokens(chunk);
      }
      const { ids, logprobs } = read;
      for (let i = 0; i < ids.length; i++) {
        const id = ids[i] ?? 0;
        const isEnd = order.ends.has(id);
        generated++;
        if (!isEnd) {
          text.push(id);
          if (forced.length === 0) cache.hold([id]);
        }
        const shown = isEnd ? order.decoder.end() : order.decoder.push(id);
        const passed = order.stops.push(shown);
        const isStopped = isEnd || order.stops.isStopped;
        const rest = isEnd && !order.stops.isStopped ? order.stops.end() : '';
        yield { id, logprob: logprobs[i] ?? 0, text: passed + rest };
        if (isStopped) return 'stop';
      }
    }
    const rest = order.stops.push(order.decoder.end()) + order.stops.end();
    if (rest !== '') yield { id: -1, logprob: 0, text: rest };
    return 'length';
  } finally {
    ahead?.tokens.dispose();
    ahead?.logprobs.dispose();
    const { counts } = penalties ?? {};
    if (counts instanceof DeviceTensor) counts.dispose();
    // The device may hold more tokens than were taken: its logits are those of none of ours.
    cache.invalidate();
  }
}

/** A chunk on its way. */
interface Ahead {
  readonly tokens: DeviceTensor;
  readonly logprobs: DeviceTensor;
  readonly count: number;
}

/** Tokens of a chunk, and the logarithms of their probabilities; none for those that were not drawn. */
interface ReadTokens {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
}

async function readTokens({ tokens, logprobs, count }: Ahead): Promise<ReadTokens> {
  const [ids, values] = await Promise.all([tokens.read(), logprobs.read()]);
  tokens.dispose();
  logprobs.dispose();
  const numbers = ({ data }: Tensor): number[] => Array.from(data, Number).slice(0, count);
  return { ids: numbers(ids), logprobs: numbers(values) };
}

interface Reached {
  readonly text: readonly number[];
  readonly penalties: Penalties | undefined;
}

/** One token among those that may come. */
async function constrained(
  { cache, sampling, vocabulary }: GenerationOrder,
  constraint: TokenConstraint,
  { text, penalties }: Reached,
): Promise<{ read: ReadTokens; penalties: Penalties | undefined }> {
  await cache.read(text);
  const allowed = new Uint32Array(Math.ceil(vocabulary / WORD_BITS));
  constraint.mask(allowed);
  if (allowed.every((word) => word === 0)) throw impossible(text.length);
  const begun = await cache.begin(1, { position: text.length, sampling, penalties, allowed });
  const read = await readTokens({ ...begun, count: 1 });
  if (!constraint.accept(read.ids[0] ?? -1)) throw impossible(text.length);
  return { read, penalties: penalties && { ...penalties, counts: begun.counts } };
}

function impossible(position: number): RuntimeError {
  return new RuntimeError({
    where: `text generation, position ${position}`,
    got: 'a constraint that no token of the model meets',
    expected: 'one that the vocabulary can spell',
  });
}

/** What penalties go by at the begin; undefined where nothing is minded. */
function penaltiesOf({ sampling, prompt, vocabulary }: GenerationOrder): Penalties | undefined {
  if (sampling.options % 2 === 0) return undefined;
  const [bias, seen] = [new Float32Array(vocabulary), new Int32Array(vocabulary)];
  for (const [id, value] of sampling.bias) bias[id] = value;
  for (const id of prompt) seen[id] = 1;
  return {
    bias: new Tensor('float32', bias, [1, vocabulary]),
    seen: new Tensor('int32', seen, [1, vocabulary]),
    counts: new Tensor('int32', new Int32Array(vocabulary), [1, vocabulary]),
  };
}
