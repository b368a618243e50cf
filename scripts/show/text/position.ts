import { seededRandom } from '../../../src/core/random.ts';
import type { KernelTiming } from '../../../src/device/device.ts';
import { safetensorsOf } from '../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { llamaVocabulary } from '../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import type { Checks } from './checks.ts';
import { modelFolder, tokenizerFolder } from './model-folder.ts';
import { type CountedModel, type Counts, openCounted } from './position/counted-model.ts';
import { fillCaches } from './position/fill-caches.ts';
import { randomModel, SIZES } from './wllama/shown-models.ts';

/** Of the first token of what is measured. */
const POSITIONS = [64, 512, 2048, 8192];
/** Positions of the model. */
const CONTEXT = 16_384;
/**
 * Sizes of the decoder on each device, besides `SIZES`. On wasm its weights take 100 MB. Fewer may
 * stay in the caches of a processor as long as there are few keys to read, so that times depend on
 * its memory: with 18 MB kernels outside attention take up to 1.6 times as long after 8,192 keys.
 * WebGPU in software computes longer than it waits for memory.
 */
const OWN_SIZES = {
  wasm: {
    hidden_size: 1024,
    intermediate_size: 3072,
    num_attention_heads: 16,
    num_key_value_heads: 1,
  },
  webgpu: {},
};
/** Tokens of a chunk. */
const CHUNK = 8;
/** Chunks before a position, in which buffers take their turns and calls are recorded, and from there on. */
const [SETTLED, MEASURED] = [5, 4];
/** Texts at each position, by turns, that are counted and that are profiled. */
const [ROUNDS, PROFILES] = [3, 11];
/** The most that kernels outside attention take at the last position, in times of the first. */
const MOST_RATIO = 1.1;

/** Measurements at a position. */
interface Place {
  readonly position: number;
  readonly prompt: readonly number[];
  /** Of whole chunks. */
  readonly chunkMs: number[];
  /** Counters of each chunk. */
  readonly counts: Counts[];
  /** Times of the kernels of a chunk, one list for each round. */
  readonly profiles: (readonly KernelTiming[])[];
}

/** Time and counters of a token against its position. */
export async function show(checks: Checks, words: readonly string[]): Promise<void> {
  for (const device of ['wasm', 'webgpu'] as const) {
    if (words.length === 0 || words.includes(device)) await showOn(checks, device);
  }
}

async function showOn(checks: Checks, device: 'wasm' | 'webgpu'): Promise<void> {
  const tokenizer = llamaVocabulary(900);
  const sizes = {
    ...SIZES,
    ...OWN_SIZES[device],
    model_type: 'llama',
    max_position_embeddings: CONTEXT,
  };
  const decoder = randomModel(sizes, tokenizer, 1).decoder('F32');
  // Without a token that ends texts.
  const folder = { ...tokenizerFolder(tokenizer), generationConfig: {} };
  const files = { 'model.safetensors': safetensorsOf(decoder) };
  const read = modelFolder(folder, decoder.config, files);
  const counted = await openCounted(read, { device, conversations: 2 * POSITIONS.length });
  const random = seededRandom(7);
  const places = POSITIONS.map((position): Place => {
    const prompt = Array.from({ length: position + CHUNK }, () => 3 + Math.floor(random() * 800));
    return { position, prompt, chunkMs: [], counts: [], profiles: [] };
  });
  for (const { prompt } of places) await fillCaches(counted.model, prompt);
  await settle(counted);
  for (let round = 0; round < ROUNDS; round++) {
    for (const place of places) await measure(counted, place);
  }
  const [first] = places;
  if (first === undefined) throw new Error('no positions');
  const [two, three] = [await profile(counted, first, 2), await profile(counted, first, 3)];
  for (let round = 0; round < PROFILES; round++) {
    // There and back again: a machine that gets slower or faster meanwhile favours no position.
    for (const place of round % 2 === 0 ? places : places.toReversed()) {
      const timings = await profile(counted, place, 2);
      // The last chunk begins at the position.
      place.profiles.push(timings.slice(two.length - three.length));
    }
  }
  await counted.dispose();
  checks.section(
    `${device}: a token against its position (a decoder of 2 layers, ${sizes.hidden_size} wide, of random weights)`,
  );
  report(checks, places);
}

/**
 * Waits until kernels that nobody has asked for yet are compiled, which happens one by one while nothing runs: until for some
 * seconds none was made, longer than one takes on a busy machine.
 */
async function settle({ counts }: CountedModel): Promise<void> {
  for (let last = -1, same = 0; same < 40; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { made } = counts();
    same = made === last ? same + 1 : 0;
    last = made;
  }
}

/** Generates over a position, and counts and times chunks from there on. */
async function measure({ model, counts }: CountedModel, place: Place): Promise<void> {
  const begin = place.position - SETTLED * CHUNK;
  // The device has begun the next chunk when the first token of one arrives, so one more is generated.
  const maxTokens = (SETTLED + MEASURED + 2) * CHUNK;
  const text = model.generate(place.prompt.slice(0, begin), { temperature: 0, maxTokens });
  const marks: { readonly at: number; readonly counts: Counts }[] = [];
  let count = 0;
  for await (const _ of text.tokens()) {
    if (count++ % CHUNK === 0) marks.push({ at: performance.now(), counts: counts() });
  }
  for (let chunk = SETTLED; chunk < SETTLED + MEASURED; chunk++) {
    const [from, to] = [marks[chunk], marks[chunk + 1]];
    if (from === undefined || to === undefined) throw new Error('a text that ended early');
    place.chunkMs.push(to.at - from.at);
    place.counts.push(difference(from.counts, to.counts));
  }
}

function difference(from: Counts, to: Counts): Counts {
  const names = Object.keys(from) as (keyof Counts)[];
  const all = names.map((name) => [name, to[name] - from[name]] as const);
  return Object.fromEntries(all) as unknown as Counts;
}

/** Times what kernels do in some chunks, from one chunk before a position on. */
async function profile(
  { model, startProfile }: CountedModel,
  place: Place,
  chunks: number,
): Promise<readonly KernelTiming[]> {
  const prompt = place.prompt.slice(0, place.position - CHUNK);
  // Reads what no cache holds of it.
  await model.generate(prompt, { temperature: 0, maxTokens: 1 }).text();
  const stop = await startProfile();
  const text = model.generate(prompt, { temperature: 0, maxTokens: chunks * CHUNK });
  for await (const _ of text.tokens());
  return stop();
}

/** For each launch whether it is part of attention: with its mask, which is all between the writing of a cache and attention. */
function inAttention(launches: readonly KernelTiming[]): boolean[] {
  let isBefore = false;
  const all = launches.toReversed().map(({ primitive }) => {
    const isAttention = /attention/.test(primitive);
    isBefore = isAttention || (isBefore && !/tensor_scatter/.test(primitive));
    return isBefore;
  });
  return all.toReversed();
}

function report(checks: Checks, places: readonly Place[]): void {
  checks.note('position  ms a token  kernels outside attention  attention  launches  bytes');
  for (const place of places) {
    const { launches, bytes } = place.counts[0] ?? NOTHING;
    const [outside, inside] = [kernelMs(place, false), kernelMs(place, true)];
    const cells = [
      String(place.position).padStart(8),
      (median(place.chunkMs) / CHUNK).toFixed(3).padStart(10),
      (outside / CHUNK).toFixed(3).padStart(25),
      (inside / CHUNK).toFixed(3).padStart(9),
      (launches / CHUNK).toFixed(1).padStart(8),
      (bytes / CHUNK).toFixed(1).padStart(5),
    ];
    checks.note(cells.join('  '));
  }
  const counts = places.flatMap(({ counts: all }) => all);
  const [first = NOTHING] = counts;
  const are = (name: keyof Counts, value: number): boolean =>
    counts.every((count) => count[name] === value);
  checks.check(are('launches', first.launches), `as many launches at each position`);
  checks.check(
    are('bytes', first.bytes),
    `as many bytes written, copied and read at each position`,
  );
  checks.check(
    new Set(places.flatMap(({ profiles }) => profiles.map(shapes))).size === 1,
    'outside attention the same kernels in the same sizes',
  );
  checks.check(are('made', 0), 'no buffer, bind group or pipeline is made between growths');
  checks.check(
    are('replayed', 1) && are('interpreted', 0),
    'a chunk is one recorded list of launches that is repeated',
  );
  checks.check(are('readbacks', 1), `one readback every ${CHUNK} tokens`);
  const [low, high] = [places[0], places.at(-1)].map((place) => place && kernelMs(place, false));
  const ratio = (high ?? Number.NaN) / (low ?? Number.NaN);
  checks.check(
    ratio <= MOST_RATIO,
    `kernels outside attention take ${ratio.toFixed(3)} times as long at ${POSITIONS.at(-1)} as at ${POSITIONS[0]}`,
  );
}

const NOTHING: Counts = {
  made: Number.NaN,
  launches: Number.NaN,
  readbacks: Number.NaN,
  interpreted: Number.NaN,
  replayed: Number.NaN,
  bytes: Number.NaN,
};

/** Milliseconds of a chunk in attention or outside: the sum of each launch's median over all rounds. */
function kernelMs({ profiles }: Place, isWanted: boolean): number {
  const [launches = []] = profiles;
  const are = inAttention(launches);
  return launches.reduce((sum, _, i) => {
    if (are[i] !== isWanted) return sum;
    return sum + median(profiles.map((profile) => profile[i]?.durationMs ?? Number.NaN));
  }, 0);
}

/** The kernels outside attention and their sizes. */
function shapes(launches: readonly KernelTiming[]): string {
  const are = inAttention(launches);
  return launches
    .filter((_, i) => are[i] === false)
    .map(({ primitive, label, workgroups }) => `${primitive} ${label} ${workgroups.join(' ')}`)
    .join('\n');
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
