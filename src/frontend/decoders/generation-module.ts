import { call, func, scalar, variable, constant } from '../../compiler/ir/build.ts';
import type { Expr, FunctionExpr, Module } from '../../compiler/ir/expr.ts';
import { parseModule } from '../../compiler/ir/text/parse.ts';
import { formatDim } from '../../core/dims/dim.ts';
import { internalError } from '../../core/errors.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import {
  CHUNK,
  GUESSES,
  OPTIONS,
  type SettingName,
  SETTINGS,
  WORD_BITS,
} from '../../core/text-layout.ts';
import { countOnDevice } from './count-on-device.ts';
import { postOrder } from '../../compiler/ir/walk/visit.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';

/** Bytes of each constant that count, at its begin, in its middle and at its end: weights may lie in files that are long to read. */
const SAMPLE = 1024;

/** A function that gives two words, uint32 (2,), which tell the constants of a module from those of another. */
function weightsFingerprint({ functions }: Module): FunctionExpr {
  const [left, right] = [new Hash(0x811c9dc5), new Hash(0x01000193)];
  for (const [name, { body }] of functions) {
    for (const expr of postOrder(body)) {
      if (expr.kind !== 'constant') continue;
      const { value } = expr;
      const text = new TextEncoder().encode(`${name} ${value.dtype} ${value.shape.join()}`);
      const last = Math.max(value.storedByteLength - SAMPLE, 0);
      const samples = [0, Math.floor(last / 2), last].map((offset) =>
        value.storedBytes(offset, Math.min(SAMPLE, value.storedByteLength)),
      );
      for (const hash of [left, right]) for (const bytes of [text, ...samples]) hash.add(bytes);
    }
  }
  const words = HostTensor.from('uint32', [2], [left.value, right.value]);
  return func([], constant(words), { resultNames: ['fingerprint'] });
}

/** The hash FNV-1a, of 32 bits. */
class Hash {
  #value: number;

  constructor(start: number) {
    this.#value = start;
  }

  get value(): number {
    return this.#value >>> 0;
  }

  add(bytes: Uint8Array): void {
    for (const byte of bytes) this.#value = Math.imul(this.#value ^ byte, 0x01000193);
  }
}

/** Of 24 random bits, which float32 has exactly: what one of them counts. */
const UNIT = 2 ** -24;

/**
 * `(keys: uint32 (b, 2), first: int32 (b,))` to numbers of the standard Gumbel distribution, float32 (b, chunk, vocabulary).
 * Number (i, t) of a row is of the first of Threefry's words under the row's key for the counter (t, first + i). So a seed and
 * a position decide it, on whatever device, in whatever batch and however often a generation was stopped and resumed.
 */
function gumbelNoise(chunk: number, vocabulary: number): FunctionExpr {
  const keys = variable('keys', 'uint32', ['b', 2]);
  const first = variable('first', 'int32', ['b']);
  const [left, right] = [0, 1].map((index) => {
    const half = call('slice', [keys], { starts: [0, index], ends: ['b', index + 1] });
    return call('reshape', [half], { shape: ['b', 1, 1] });
  }) as [Expr, Expr];
  const count = (size: number): Expr =>
    call('cast', [call('arange', [], { start: [0], size: [size] })], { to: 'uint32' });
  const tokens = call('reshape', [count(vocabulary)], { shape: [1, 1, vocabulary] });
  const begin = call('reshape', [call('cast', [first], { to: 'uint32' })], { shape: ['b', 1, 1] });
  const after = call('reshape', [count(chunk)], { shape: [1, chunk, 1] });
  const bits = call('threefry', [left, right, tokens, call('add', [begin, after])], {});
  const upper = call('cast', [call('shift_right', [bits, scalar(8, 'uint32')])], { to: 'float32' });
  const uniform = call('maximum', [call('mul', [upper, scalar(UNIT)]), scalar(UNIT / 2)]);
  // Large numbers, which decide what is drawn, come of small uniform ones: log1p is exact there, and log near 1 is not.
  const exponential = call('neg', [call('log1p', [call('neg', [uniform])])]);
  return func([keys, first], call('neg', [call('log', [exponential])]), { private: true });
}

/** A language model as the compiler sees it. */
export interface Decoder {
  /**
   * `@decode(tokens: int32 (b, s), first: int32 (b,), wanted: int32 (b, m), caches…) -> (logits: float32 (b, m, V), caches…)`.
   *
   * The tokens of row r stand at positions first[r], first[r] + 1, … of its text, and wanted[r] says behind which of them, counted
   * from 0, logits are asked for. Keys and values of the tokens go into the caches in place, from first[r] on.
   * A key at position j counts for a query at position i if j <= i, so whatever a cache holds behind is never seen.
   */
  readonly module: Module;
  readonly vocabulary: number;
  /** Types of the caches, (b, heads, c, width) each, where c is how many positions there is room for. */
  readonly caches: readonly TensorType[];
}

/** Bits of numbers up to 1 in float32, how many of them a turn of `least` finds, and how many turns that takes. */
const [BITS, DIGIT] = [30, 3];
const TURNS = BITS / DIGIT;

/**
 * The program that generates text with a decoder:
 *
 * - `allocate(rows: int, capacity: int)` gives empty caches.
 * - `grow(capacity: int, caches…)` moves caches to larger ones.
 * - `blank(rows: int)` gives zeros in the place of `bias`, `allowed` and `counts` where these are not minded.
 * - `prefill(tokens: int32 (b, s), first, lengths, caches…)` reads tokens, of which row r has lengths[r] real ones, and gives
 *   `logits` of what comes next.
 * - `main(count: int, options: int, …)` generates up to eight tokens: draws one from the logits, decodes it, and so
 *   on, without anybody reading anything in between. `seen` says which tokens the prompt has, `counts` how often each was
 *   generated. `drawn` holds the tokens, and behind them the bits of the logarithms of their probabilities.
 * - `verify(options: int, …, draft: int32 (b, 7), …)` does the same with tokens that somebody guessed, all decoded at once: it
 *   draws the first token and decodes it with all guesses but the first, then draws what comes behind each. As long as
 *   guesses are what is drawn, these are the tokens that `main` gives (Leviathan et al. 2023, with draws that a seed
 *   and a position decide). `logits` and `counts` are those behind the last such token.
 * - `hold(bias, seen, counts)` takes what penalties go by to the device.
 * - `cut(length: int, caches…)` gives as many positions of the caches, from the first one on.
 * - `fingerprint()` gives two words that tell the weights from others.
 */
export function generationModule({ module, vocabulary, caches }: Decoder): Module {
  const written = parseModule(programText(vocabulary, caches), { file: 'generation' });
  const functions = new Map<string, FunctionExpr>([
    ...written.functions,
    ...[...module.functions].map(([name, fn]): [string, FunctionExpr] => [name, asPrivate(fn)]),
    ['noise', gumbelNoise(CHUNK, vocabulary)],
    ['fingerprint', weightsFingerprint(module)],
  ]);
  const shared = [...module.functions.keys()].find((name) => written.functions.has(name));
  if (shared !== undefined && shared !== 'decode') {
    throw internalError(`a decoder has a function "${shared}" of its own`);
  }
  return countOnDevice({
    functions,
    types: new Map([...written.types, ...module.types]),
    metadata: module.metadata,
  });
}

const asPrivate = (fn: FunctionExpr): FunctionExpr => ({
  ...fn,
  attributes: { ...fn.attributes, private: true },
});

function programText(vocabulary: number, caches: readonly TensorType[]): string {
  const types = caches.map(({ dtype, shape }) => ({ dtype, shape: shape.map(formatDim) }));
  const tensor = (shape: readonly string[], dtype: string): string =>
    `Tensor[(${shape.join(', ')}${shape.length === 1 ? ',' : ''}), ${dtype}]`;
  const cacheType = types.map(({ dtype, shape }) => tensor(shape, dtype));
  const names = types.map((_, i) => `cache${i}`);
  const all = (part: (name: string, i: number) => string): string => names.map(part).join(', ');
  const params = all((name, i) => `%${name}: ${cacheType[i]}`);
  const values = all((name) => `%${name}`);
  const quoted = all((name) => `"${name}"`);
  const V = vocabulary;
  const words = Math.ceil(V / WORD_BITS);
  const fields = (from: number): string => all((_, i) => `%decoded.${i + from}`);
  const column = (name: SettingName): string => {
    const at = SETTINGS.indexOf(name);
    return `slice(%settings, starts=[0, ${at}], ends=[b, ${at + 1}])`;
  };
  const rows = (dtype: string): string => tensor(['b', `${V}`], dtype);
  const noise = tensor(['b', `${CHUNK}`, `${V}`], 'float32');
  const when = (option: keyof typeof OPTIONS, then: string, otherwise: string): string =>
    `if (int_mod(int_floordiv(%options, #${OPTIONS[option]}), #2)) { ${then} } else { ${otherwise} }`;
  const fed = tensor(['b', `${GUESSES}`], 'int32');
  const state = `%options: int, %settings: ${tensor(['b', `${SETTINGS.length}`], 'float32')},
    %bias: ${rows('float32')},
    %allowed: ${tensor(['b', `${words}`], 'uint32')}`;
  return `
private def @decode(%tokens: Tensor[(b, s), int32]) { %tokens }
private def @noise(%keys: Tensor[(b, 2), uint32]) { %keys }

def @allocate(%rows: int, %capacity: int, results=[${quoted}]) {
  let %sizes: Tensor[(0, b, c), int32] = sizes_of(%rows, %capacity);
  (${types.map(({ dtype, shape }) => `full(shape=[${shape.join(', ')}], value=0, dtype="${dtype}")`).join(', ')},)
}

def @blank(%rows: int, results=["bias", "allowed", "counts"]) {
  let %sizes: Tensor[(0, b), int32] = sizes_of(%rows);
  (full(shape=[b, ${V}], value=0), full(shape=[b, ${words}], value=0, dtype="uint32"),
    full(shape=[b, ${V}], value=0, dtype="int32"))
}

def @hold(%bias: ${rows('float32')}, %seen: ${rows('int32')}, %counts: ${rows('int32')}, results=["bias", "seen", "counts"]) {
  (%bias, %seen, %counts)
}

def @cut(%length: int, ${params}, results=[${quoted}]) {
  let %sizes: Tensor[(0, n), int32] = sizes_of(%length);
  (${all((name, i) => `slice(%${name}, starts=[0, 0, 0, 0], ends=[b, ${types[i]?.shape[1]}, n, ${types[i]?.shape[3]}])`)},)
}

def @grow(%capacity: int, ${params}, results=[${quoted}]) {
  let %sizes: Tensor[(0, more), int32] = sizes_of(int_sub(%capacity, dim(%cache0, axis=2)));
  (${all((name) => `pad(%${name}, pads=[0, 0, 0, 0, 0, 0, more, 0])`)},)
}

def @prefill(%tokens: Tensor[(b, s), int32], %first: Tensor[(b,), int32], %lengths: Tensor[(b,), int32],
    ${params}, results=["logits", ${quoted}]) {
  let %decoded = @decode(%tokens, %first, reshape(sub(%lengths, 1), shape=[b, 1]), ${values});
  (reshape(%decoded.0, shape=[b, ${V}]), ${fields(1)})
}

private def @penalized(%logits: ${rows('float32')}, %settings: ${tensor(['b', `${SETTINGS.length}`], 'float32')},
    %bias: ${rows('float32')}, %seen: ${rows('int32')}, %counts: ${rows('int32')}) -> ${rows('float32')} {
  %by = ${column('repetition')};
  %was = greater(add(%seen, %counts), 0);
  %repeated = where(greater(%logits, 0f), div(%logits, %by), mul(%logits, %by));
  %count = cast(%counts, to="float32");
  %present = minimum(%count, 1f);
  %cost = add(mul(${column('presence')}, %present), mul(${column('frequency')}, %count));
  add(sub(where(%was, %repeated, %logits), %cost), %bias)
}

private def @masked(%logits: ${rows('float32')}, %allowed: ${tensor(['b', `${words}`], 'uint32')}) -> ${rows('float32')} {
  %tokens = cast(arange(start=[0], size=[${V}]), to="int32");
  %words = gather(%allowed, div(%tokens, 32), axis=1);
  %bits = shift_right(%words, cast(mod(%tokens, 32), to="uint32"));
  where(equal(bitwise_and(%bits, 1u), 1u), %logits, -1e30f)
}

// The bits of the least weight that is kept, found from the highest digit down: those above it are fewer than some count,
// and have less than some mass together. Each turn compares with all values that ${DIGIT} bits can have.
private def @least(%turns: int, %unit: Tensor[(), uint32], %found: Tensor[(b, 1), uint32], %bits: ${rows('uint32')},
    %weights: ${rows('float32')}, %most: Tensor[(b, 1), float32], %enough: Tensor[(b, 1), float32])
    -> Tensor[(b, 1), uint32] {
  if (%turns) {
    %digits = reshape(cast(arange(start=[1], size=[${2 ** DIGIT - 1}]), to="uint32"), shape=[1, ${2 ** DIGIT - 1}]);
    let %next = reshape(add(%found, mul(%digits, %unit)), shape=[b, ${2 ** DIGIT - 1}, 1]);
    %above = greater_equal(reshape(%bits, shape=[b, 1, ${V}]), %next);
    let %mass = reduce_sum(where(%above, reshape(%weights, shape=[b, 1, ${V}]), 0f), axes=[2]);
    let %count = reduce_sum(cast(%above, to="float32"), axes=[2]);
    let %isMany = bitwise_or(greater_equal(%mass, %enough), greater_equal(%count, %most));
    let %digit = reduce_sum(cast(%isMany, to="int32"), axes=[1], keepdims=true);
    let %more = add(%found, mul(cast(%digit, to="uint32"), %unit));
    @least(int_sub(%turns, #1), shift_right(%unit, ${DIGIT}u), %more, %bits, %weights, %most, %enough)
  } else { %found }
}

// topP is a share of what topK keeps, as in transformers.
private def @filtered(%scores: ${rows('float32')}, %options: int, %settings: ${tensor(['b', `${SETTINGS.length}`], 'float32')})
    -> ${rows('float32')} {
  let %weights = softmax(%scores);
  let %bits = bitcast(%weights, to="uint32");
  let %zero = full(shape=[b, 1], value=0, dtype="uint32");
  let %few = ${when('topK', `@least(#${TURNS}, ${2 ** (BITS - DIGIT)}u, %zero, %bits, %weights, ${column('topK')}, full(shape=[b, 1], value=2))`, '%zero')};
  let %kept = reduce_sum(where(greater_equal(%bits, %few), %weights, 0f), axes=[1], keepdims=true);
  let %enough = mul(${column('topP')}, %kept);
  let %least = ${when('topP', `maximum(%few, @least(#${TURNS}, ${2 ** (BITS - DIGIT)}u, %zero, %bits, %weights, full(shape=[b, 1], value=${2 ** 30}), %enough))`, '%few')};
  %most = reduce_max(%weights, axes=[1], keepdims=true);
  %likely = greater_equal(%weights, mul(%most, ${column('minP')}));
  where(bitwise_and(greater_equal(%bits, %least), %likely), %scores, -1e30f)
}

private def @draw(${state}, %logits: ${rows('float32')}, %noise: ${noise}, %step: Tensor[(1,), int32],
    %seen: ${rows('int32')}, %counts: ${rows('int32')}) -> Tensor[(b, 1), int32] {
  let %fair = ${when('penalties', '@penalized(%logits, %settings, %bias, %seen, %counts)', '%logits')};
  let %right = ${when('grammar', '@masked(%fair, %allowed)', '%fair')};
  let %scores = mul(%right, ${column('inverseTemperature')});
  let %kept = ${when('filters', '@filtered(%scores, %options, %settings)', '%scores')};
  let %noisy = ${when('noise', `add(%kept, mul(reshape(gather(%noise, %step, axis=1), shape=[b, ${V}]), ${column('noise')}))`, '%kept')};
  cast(arg_max(%noisy, axis=1), to="int32")
}

// Which step it is is a tensor too: one that is made of an int would keep a call from being recorded.
private def @steps(%i: int, %step: Tensor[(1,), int32], %count: int, ${state}, %noise: ${noise}, %tokens: Tensor[(b, ${CHUNK}), int32],
    %logprobs: Tensor[(b, ${CHUNK}), float32], %logits: ${rows('float32')}, %first: Tensor[(b,), int32],
    %seen: ${rows('int32')}, %counts: ${rows('int32')}, ${params})
    -> (Tensor[(b, ${2 * CHUNK}), int32], ${rows('float32')}, ${rows('int32')}, ${cacheType.join(', ')}) {
  if (int_lt(%i, %count)) {
    let %token = @draw(%options, %settings, %bias, %allowed, %logits, %noise, %step, %seen, %counts);
    let %at = broadcast_to(%step, shape=[b]);
    let %all = tensor_scatter(%tokens, %token, %at, axis=1);
    let %logprob = gather_elements(log_softmax(%logits), %token, axis=1);
    let %known = tensor_scatter(%logprobs, %logprob, %at, axis=1);
    let %counted = ${when('penalties', 'scatter_elements(%counts, %token, broadcast_to(1, shape=[b, 1]), axis=1, reduction="add")', '%counts')};
    let %decoded = @decode(%token, %first, broadcast_to(0, shape=[b, 1]), ${values});
    @steps(int_add(%i, #1), add(%step, 1), %count, %options, %settings, %bias, %allowed, %noise, %all, %known,
      reshape(%decoded.0, shape=[b, ${V}]), add(%first, 1), %seen, %counted, ${fields(1)})
  } else {
    (concat(%tokens, bitcast(%logprobs, to="int32"), axis=1), %logits, %counts, ${values})
  }
}

def @main(%count: int, ${state}, %keys: ${tensor(['b', '2'], 'uint32')}, %logits: ${rows('float32')},
    %first: Tensor[(b,), int32], %seen: ${rows('int32')}, %counts: ${rows('int32')}, ${params},
    results=["drawn", "logits", "counts", ${quoted}]) {
  let %tokens = full(shape=[b, ${CHUNK}], value=0, dtype="int32");
  let %logprobs = full(shape=[b, ${CHUNK}], value=0, dtype="float32");
  let %noise = ${when('noise', '@noise(%keys, %first)', `full(shape=[b, ${CHUNK}, ${V}], value=0)`)};
  let %step = full(shape=[1], value=0, dtype="int32");
  @steps(#0, %step, %count, %options, %settings, %bias, %allowed, %noise, %tokens, %logprobs, %logits, %first, %seen, %counts,
    ${values})
}

// Draws what comes behind each token, from the second draw on. A token that is not what was drawn there ends the text that counts:
// %right says whether none did so far, %length how many tokens are right.
private def @compare(%i: int, %step: Tensor[(1,), int32], ${state}, %noise: ${noise}, %fed: ${fed},
    %behind: ${tensor(['b', `${GUESSES}`, `${V}`], 'float32')}, %drawn: Tensor[(b, ${CHUNK}), int32],
    %logprobs: Tensor[(b, ${CHUNK}), float32], %right: Tensor[(b, 1), int32], %length: Tensor[(b, 1), int32],
    %seen: ${rows('int32')}, %counts: ${rows('int32')})
    -> (Tensor[(b, ${CHUNK}), int32], Tensor[(b, ${CHUNK}), float32], Tensor[(b, 1), int32], ${rows('int32')}) {
  if (int_lt(%i, #${CHUNK})) {
    let %logits = reshape(gather(%behind, sub(%step, 1), axis=1), shape=[b, ${V}]);
    let %token = @draw(%options, %settings, %bias, %allowed, %logits, %noise, %step, %seen, %counts);
    let %at = broadcast_to(%step, shape=[b]);
    let %all = tensor_scatter(%drawn, %token, %at, axis=1);
    let %known = tensor_scatter(%logprobs, gather_elements(log_softmax(%logits), %token, axis=1), %at, axis=1);
    // Behind the last draw nothing was fed: what stands there again does not count.
    let %guess = gather(%fed, minimum(%step, ${GUESSES - 1}), axis=1);
    let %isFed = cast(less(reshape(%step, shape=[1, 1]), ${GUESSES}), to="int32");
    let %still = mul(mul(%right, %isFed), cast(equal(%guess, %token), to="int32"));
    let %counted = ${when('penalties', 'scatter_elements(%counts, %token, %still, axis=1, reduction="add")', '%counts')};
    @compare(int_add(%i, #1), add(%step, 1), %options, %settings, %bias, %allowed, %noise, %fed, %behind, %all, %known,
      %still, add(%length, %still), %seen, %counted)
  } else {
    (%drawn, %logprobs, %length, %counts)
  }
}

def @verify(${state}, %keys: ${tensor(['b', '2'], 'uint32')}, %logits: ${rows('float32')}, %draft: ${fed},
    %first: Tensor[(b,), int32], %seen: ${rows('int32')}, %counts: ${rows('int32')}, ${params},
    results=["drawn", "logits", "counts", ${quoted}]) {
  let %noise = ${when('noise', '@noise(%keys, %first)', `full(shape=[b, ${CHUNK}, ${V}], value=0)`)};
  let %step = full(shape=[1], value=0, dtype="int32");
  let %token = @draw(%options, %settings, %bias, %allowed, %logits, %noise, %step, %seen, %counts);
  let %fed = tensor_scatter(%draft, %token, broadcast_to(0, shape=[b]), axis=1);
  let %one = full(shape=[b, 1], value=1, dtype="int32");
  let %counted = ${when('penalties', 'scatter_elements(%counts, %token, %one, axis=1, reduction="add")', '%counts')};
  %all = broadcast_to(cast(arange(start=[0], size=[${GUESSES}]), to="int32"), shape=[b, ${GUESSES}]);
  let %decoded = @decode(%fed, %first, %all, ${values});
  let %drawn = pad(%token, pads=[0, 0, 0, ${CHUNK - 1}]);
  let %logprobs = pad(gather_elements(log_softmax(%logits), %token, axis=1), pads=[0, 0, 0, ${CHUNK - 1}]);
  let %compared = @compare(#1, full(shape=[1], value=1, dtype="int32"), %options, %settings, %bias, %allowed, %noise, %fed,
    %decoded.0, %drawn, %logprobs, %one, %one, %seen, %counted);
  let %reached = gather_nd(%decoded.0, sub(%compared.2, 1), batch_dims=1);
  (concat(%compared.0, bitcast(%compared.1, to="int32"), axis=1), %reached, %compared.3, ${fields(1)})
}
`;
}
