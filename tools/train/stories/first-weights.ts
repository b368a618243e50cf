import { seededRandom } from '../../../src/core/random.ts';
import { headWidth, type StorySizes, weightShapes } from '../../../src/text/testing/story-sizes.ts';

export interface FirstWeightsOptions {
  readonly seed: number;
  /** Pairs of tokens that spell a word without and with a space before it. */
  readonly spellings: readonly (readonly [bare: number, spaced: number])[];
}

type Weights = ReadonlyMap<string, Float32Array>;

const DEVIATION = { embedding: 0.08, matrix: 0.04 };
/** How much the two spellings of a word begin alike. */
const SAME_WORD = 0.9;
/** How much queries begin as keys: their products then find equal content. */
const ALIKE = 0.7;
/** The size of outputs beside that of values. */
const OUTPUT = 0.5;
/** The layer whose heads look back, and the one that finds what they noted. */
const NOTING = { layer: 0, back: [3, 4, 1, 2], output: 0.25 } as const;
const FINDING = { layer: 1, product: 4, output: 2 } as const;
/** Frequencies of a head that tell near tokens apart. */
const FAST = 16;
/**
 * The number that all embeddings have in common, and the numbers by which queries and keys multiply
 * it.
 */
const COMMON = { embedding: 0.32, product: 1.2 };

/**
 * Random weights in which attention already has somewhere to begin; which words there are it does not know.
 *
 * - Weights are even numbers around 0, norms 1; weights that add to the residual are smaller by the number of such sums.
 *   The two spellings of a word, with a space before it and without, begin nearly alike.
 * - From the second layer on queries begin like keys, and outputs like the transpose of values, so that attention finds what is alike and copies it
 *   (Trockman and Kolter 2023, Mimetic Initialization of Self-Attention Layers).
 * - The heads of the first layer look back 3, 4, 1 and 2 tokens and note what is there, each in directions of its own. The
 *   second layer's queries read the first of these notes, its keys the second: an induction head (Olsson et al. 2022,
 *   In-context Learning and Induction Heads) that finds the token whose note 4 tokens back is the own one 3 tokens back.
 *
 * Without the last of these, and plain stories first, the model did not come to read its questions in 9,000 steps.
 */
export function firstWeights(
  sizes: StorySizes,
  { seed, spellings }: FirstWeightsOptions,
): Map<string, Float32Array> {
  const random = seededRandom(seed);
  const weights = new Map<string, Float32Array>();
  for (const [name, shape] of weightShapes(sizes)) {
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    const bound = Math.sqrt(3) * (name === 'embedding' ? DEVIATION.embedding : DEVIATION.matrix);
    const scale = name.endsWith('.down') ? 1 / Math.sqrt(2 * sizes.layers) : 1;
    if (name.endsWith('norm')) values.fill(1);
    else for (let i = 0; i < values.length; i++) values[i] = scale * bound * (2 * random() - 1);
    weights.set(name, values);
  }
  likenSpellings(sizes, weights, spellings);
  for (let layer = 0; layer < sizes.layers; layer++) {
    if (layer > NOTING.layer) likenQueries(sizes, weights, layer);
    copyValues(sizes, weights, { layer, scale: OUTPUT });
  }
  lookBack(sizes, weights);
  const directions = orthonormalRows(sizes.width, random);
  weights.get(`l${NOTING.layer}.output`)?.set(directions.map((value) => NOTING.output * value));
  if (sizes.layers > FINDING.layer) findNotes(sizes, weights, directions);
  return weights;
}

function likenSpellings(
  { width }: StorySizes,
  weights: Weights,
  spellings: FirstWeightsOptions['spellings'],
): void {
  const embedding = valuesOf(weights, 'embedding');
  for (const [bare, spaced] of spellings) {
    for (let i = 0; i < width; i++) {
      const [own, other] = [embedding[bare * width + i] ?? 0, embedding[spaced * width + i] ?? 0];
      embedding[bare * width + i] = SAME_WORD * other + Math.sqrt(1 - SAME_WORD ** 2) * own;
    }
  }
}

/** Makes the queries of a layer like its keys. */
function likenQueries(sizes: StorySizes, weights: Weights, layer: number): void {
  const { width, heads, keyHeads } = sizes;
  const head = headWidth(sizes);
  const [query, key] = [valuesOf(weights, `l${layer}.query`), valuesOf(weights, `l${layer}.key`)];
  for (let row = 0; row < width; row++) {
    for (let column = 0; column < width; column++) {
      const group = Math.floor((Math.floor(column / head) * keyHeads) / heads);
      const alike = key[row * keyHeads * head + group * head + (column % head)] ?? 0;
      const own = row * width + column;
      query[own] = ALIKE * alike + Math.sqrt(1 - ALIKE ** 2) * (query[own] ?? 0);
    }
  }
}

/** Makes the outputs of a layer the transpose of its values, times a scale. */
function copyValues(
  sizes: StorySizes,
  weights: Weights,
  { layer, scale }: { readonly layer: number; readonly scale: number },
): void {
  const { width, heads, keyHeads } = sizes;
  const head = headWidth(sizes);
  const [value, output] = [
    valuesOf(weights, `l${layer}.value`),
    valuesOf(weights, `l${layer}.output`),
  ];
  for (let row = 0; row < width; row++) {
    for (let column = 0; column < width; column++) {
      const group = Math.floor((Math.floor(column / head) * keyHeads) / heads);
      const shared = row * keyHeads * head + group * head + (column % head);
      output[column * width + row] = scale * (value[shared] ?? 0);
    }
  }
}

/**
 * Lets the heads of the noting layer look a number of tokens back. All embeddings have the same first number, which turns
 * into a query and a key that rotary positions bring together that many tokens apart. The logits of all tokens shift by
 * the same for it.
 */
function lookBack(sizes: StorySizes, weights: Weights): void {
  const { vocabulary, width, heads, keyHeads, theta } = sizes;
  const head = headWidth(sizes);
  const half = head / 2;
  const of = (name: string): Float32Array => valuesOf(weights, `l${NOTING.layer}.${name}`);
  const [query, key, value] = [of('query'), of('key'), of('value')];
  const embedding = valuesOf(weights, 'embedding');
  for (let token = 0; token < vocabulary; token++) embedding[token * width] = COMMON.embedding;
  for (const part of [query, key]) part.set(part.map((x) => 0.1 * x));
  // Values leave out the number that all embeddings have in common: it is not worth a note.
  value.fill(0, 0, keyHeads * head);
  for (let i = 0; i < half; i++) {
    const product = i < FAST ? COMMON.product : 0;
    for (let at = i; at < keyHeads * head; at += head) {
      key[at] = product;
      key[at + half] = 0;
    }
    for (let own = 0; own < heads; own++) {
      const angle = (NOTING.back[own % NOTING.back.length] ?? 0) * theta ** (-i / half);
      query[own * head + i] = product * Math.cos(angle);
      query[own * head + i + half] = -product * Math.sin(angle);
    }
  }
}

/** Lets the first group of heads of the finding layer compare the notes of the first two heads. */
function findNotes(sizes: StorySizes, weights: Weights, directions: Float32Array): void {
  const { width, heads, keyHeads } = sizes;
  const head = headWidth(sizes);
  const of = (name: string): Float32Array => valuesOf(weights, `l${FINDING.layer}.${name}`);
  const [query, key, value] = [of('query'), of('key'), of('value')];
  for (let row = 0; row < width; row++) {
    for (let i = 0; i < head; i++) {
      for (let own = 0; own < heads / keyHeads; own++) {
        query[row * width + own * head + i] = FINDING.product * (directions[i * width + row] ?? 0);
      }
      key[row * keyHeads * head + i] =
        FINDING.product * (directions[(head + i) * width + row] ?? 0);
    }
  }
  value.fill(0, 0, keyHeads * head);
  copyValues(sizes, weights, { layer: FINDING.layer, scale: FINDING.output });
}

/** A random orthogonal matrix, row after row (Gram and Schmidt). */
function orthonormalRows(width: number, random: () => number): Float32Array {
  const rows: number[][] = [];
  while (rows.length < width) {
    const row = Array.from({ length: width }, () => 2 * random() - 1);
    // Twice, for what rounding leaves the first time.
    for (const other of [...rows, ...rows]) {
      const along = dot(row, other);
      for (let i = 0; i < width; i++) row[i] = (row[i] ?? 0) - along * (other[i] ?? 0);
    }
    const size = Math.sqrt(dot(row, row));
    rows.push(row.map((x) => x / size));
  }
  return Float32Array.from(rows.flat());
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);

const valuesOf = (weights: Weights, name: string): Float32Array =>
  weights.get(name) ?? new Float32Array();
