import { UnsupportedError } from '../../../core/errors.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { formatShape } from '../../../core/tensor/shape.ts';
import type { Decoder } from '../generation-module.ts';
import type { WeightQuantizer } from '../weight-quantizer.ts';
import { blockFormat, READABLE_TYPES } from '../files/blocks/block-formats.ts';
import { decodeElements } from '../files/blocks/decode-elements.ts';
import type { StoredTensor } from '../files/stored-tensor.ts';
import type { Architecture } from './architecture.ts';
import type { DecoderConfig, RotaryConfig } from './decoder-config.ts';
import { DecoderWeights } from './decoder-weights.ts';
import {
  blockMatrix,
  denseMatrix,
  type Matrix,
  readMatrix,
  type StoredMatrix,
  embed,
  productByRows,
} from './parts/weight.ts';
import { EMBEDDING, HEAD, sharedTensors, type TensorSpec } from './tensor-spec.ts';
import { call, func, moduleOf, tuple, variable } from '../../../compiler/ir/build.ts';
import type { Expr, Module, VarExpr } from '../../../compiler/ir/expr.ts';
import { type Cache, LayerBuilder } from './layer-builder.ts';
import { positionsFrom } from './parts/attention.ts';
import { type Angles, anglesOf } from './parts/rotary.ts';
import { mul, number, reshape, softcap } from './parts/tensor-calls.ts';

/**
 * The program of a decoder, whose weights are constants:
 *
 *     @decode(%tokens: Tensor[(b, s), int32], %first: Tensor[(b,), int32], %wanted: Tensor[(b, m), int32],
 *       %key0: Tensor[(b, keyHeads, c, headWidth), float32], %value0: …, %key1: …, …)
 *       -> (Tensor[(b, m, vocabulary), float32], caches in the same order)
 *
 * Tokens of row r stand at positions first[r] to first[r] + s - 1, of which the results are the logits behind
 * those that wanted[r] says. Their keys and values are written into the caches at these positions; what goes beyond the
 * capacity c is dropped. So rows may be of different lengths: what is behind a row's last token is overwritten by
 * what comes next.
 */
function decoderModule(
  architecture: Architecture,
  config: DecoderConfig,
  weights: DecoderWeights,
): Module {
  const tokens = variable('tokens', 'int32', ['b', 's']);
  const [first, wanted] = [
    variable('first', 'int32', ['b']),
    variable('wanted', 'int32', ['b', 'm']),
  ];
  const caches = Array.from({ length: config.layers }, (_, layer) => cacheOf(config, layer));
  const positions = positionsFrom(first);
  const around = {
    config,
    weights,
    first,
    angles: anglesByLayer(positions, config, weights),
  };
  const table = weights.matrix(EMBEDDING);
  const embedded = embed(tokens, table);
  const { embeddingScale } = config;
  let x = embeddingScale === 1 ? embedded : mul(embedded, number(embeddingScale));
  const presents: Cache[] = [];
  for (const [layer, past] of caches.entries()) {
    const builder = new LayerBuilder(layer, around, past);
    x = architecture.layer(builder, x);
    presents.push(builder.present);
  }
  const chosen = call('gather_nd', [x, reshape(wanted, ['b', 'm', 1])], { batch_dims: 1 });
  const normal = call('rms_norm', [chosen], { epsilon: config.epsilon });
  const normed = mul(normal, weights.vector('output_norm.weight'));
  const head = weights.has(HEAD) ? weights.matrix(HEAD) : table;
  const logits = softcap(productByRows(normed, head), config.logitSoftcap);
  const params = [tokens, first, wanted, ...flat(caches)];
  const resultNames = ['logits', ...flat(caches).map(({ name }) => name)];
  const body = tuple([logits, ...flat(presents)]);
  return moduleOf({ decode: func(params, body, { resultNames }) });
}

const flat = <Value extends Expr>(caches: readonly Cache<Value>[]): Value[] =>
  caches.flatMap(({ key, value }) => [key, value]);

function cacheOf({ keyHeads, headWidth }: DecoderConfig, layer: number): Cache<VarExpr> {
  const shape = ['b', keyHeads, 'c', headWidth];
  return {
    key: variable(`key${layer}`, 'float32', shape),
    value: variable(`value${layer}`, 'float32', shape),
  };
}

/** Layers that slide may have angles of their own. */
function anglesByLayer(
  positions: Expr,
  config: DecoderConfig,
  weights: DecoderWeights,
): (layer: number) => Angles {
  const { rotary, slidingRotary = rotary, contextLength, headWidth } = config;
  return onceFor(
    (layer: number) => (config.windows[layer] === undefined ? rotary : slidingRotary),
    (rotary: RotaryConfig) => {
      const { factors } = rotary;
      const divisors = typeof factors === 'string' ? weights.values(factors) : factors;
      return anglesOf(positions, { rotary, factors: divisors, contextLength, headWidth });
    },
  );
}

/** A function of what a key follows from, computed once for each key: equal keys share their nodes. */
function onceFor<From, Key, Value>(
  keyOf: (from: From) => Key,
  make: (key: Key) => Value,
): (from: From) => Value {
  const made = new Map<Key, Value>();
  return (from) => {
    const key = keyOf(from);
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** Reads the bytes of a stored tensor: a part of a file, of which nothing else is needed. */
type TensorReader = (tensor: StoredTensor) => Uint8Array | Promise<Uint8Array>;

interface DecoderFileOptions {
  readonly architecture: Architecture;
  readonly config: DecoderConfig;
  readonly stored: ReadonlyMap<string, StoredTensor>;
  /** The name in the file of a weight by that of GGUF. */
  readonly nameOf: (name: string) => string;
  /** Returns true for a tensor that the file may have though the decoder has none of that name. */
  readonly isBeside: (name: string) => boolean;
  readonly where: string;
  /** Problems found in the metadata, before the tensors are compared. */
  readonly problems: readonly string[];
}

interface ReadTensor {
  readonly tensor: StoredTensor;
  /** The bytes of the tensor in the file. */
  readonly stored: Uint8Array;
  readonly quantizer: WeightQuantizer | undefined;
}

/** A decoder in a model file, of which the head is read and found to be one that Weft has. */
export class DecoderFile {
  /** Its name in GGUF: `llama`. */
  readonly architecture: string;
  readonly config: DecoderConfig;
  /** The tensors to read, in the order of the file. */
  readonly tensors: readonly StoredTensor[];
  readonly #kind: Architecture;
  readonly #where: string;
  readonly #weights: ReadonlyMap<StoredTensor, TensorSpec>;

  /**
   * Compares the table of tensors with what the architecture has. Throws one UnsupportedError, whose
   * `details.problems` lists all that Weft lacks and all that the file lacks.
   */
  constructor(options: DecoderFileOptions) {
    const { architecture, config, stored, where } = options;
    this.#kind = architecture;
    this.architecture = architecture.name;
    this.config = config;
    this.#where = where;
    const problems = [...options.problems, ...sizeProblems(config)];
    const weights = new Map<StoredTensor, TensorSpec>();
    const named = new Set<string>();
    for (const spec of tensorsOf(architecture, config)) {
      const name = options.nameOf(spec.name);
      named.add(name);
      const tensor = stored.get(name);
      if (tensor === undefined) {
        if (spec.isOptional !== true) problems.push(`no tensor ${name}`);
      } else if (!(spec.name === HEAD && config.tiesEmbedding)) {
        problems.push(...tensorProblems(tensor, spec));
        weights.set(tensor, spec);
      }
    }
    for (const name of stored.keys()) {
      if (named.has(name) || options.isBeside(name)) continue;
      problems.push(`tensor ${name}, which ${architecture.name} does not have`);
    }
    if (problems.length > 0) throw unsupported(where, architecture, problems);
    this.#weights = weights;
    this.tensors = [...weights.keys()].sort((a, b) =>
      a.file === b.file ? a.byteOffset - b.byteOffset : (a.file ?? '') < (b.file ?? '') ? -1 : 1,
    );
  }

  /**
   * Reads all weights, one after the other, into the module of {@link decoderModule}, for `generationModule`. A quantizer
   * rounds the matrices that are no blocks of codes yet.
   */
  async load(read: TensorReader, quantizer?: WeightQuantizer): Promise<Decoder> {
    const weights = new DecoderWeights();
    for (const tensor of this.tensors) {
      this.#add(weights, { tensor, stored: await read(tensor), quantizer });
    }
    const { vocabulary, layers, keyHeads, headWidth } = this.config;
    const caches = Array.from(
      { length: 2 * layers },
      (): TensorType => ({ dtype: 'float32', shape: ['b', keyHeads, 'c', headWidth] }),
    );
    const module = decoderModule(this.#kind, this.config, weights);
    return { module, vocabulary, caches };
  }

  #add(weights: DecoderWeights, { tensor, stored, quantizer }: ReadTensor): void {
    const spec = this.#weights.get(tensor);
    if (spec === undefined) throw new Error(`internal: no weight is ${tensor.name}`);
    const { name, shape, pairedHeads } = spec;
    const [rows, columns] = shape;
    const { hasAdjacentPairs, normOffset } = this.config;
    const isPaired = hasAdjacentPairs && pairedHeads !== undefined;
    const bytes = isPaired ? halvedPairs(stored, { rows, heads: pairedHeads }) : stored;
    const { type } = tensor;
    const where = `${this.#where}, ${tensor.name}`;
    if (columns !== undefined) {
      const matrix = { rows, columns, type, where };
      const isVocabulary = name === EMBEDDING || name === HEAD;
      weights.addMatrix(
        name,
        quantizer === undefined || blockFormat(type) !== undefined
          ? readMatrix(bytes, matrix)
          : quantizedMatrix(bytes, matrix, { name: tensor.name, isVocabulary, quantizer }),
      );
      return;
    }
    const values = decodeElements(bytes, { type, count: rows, where });
    weights.addVector(name, spec.isNorm === true ? values.map((x) => x + normOffset) : values);
  }
}

function tensorsOf(architecture: Architecture, config: DecoderConfig): TensorSpec[] {
  const layer = architecture.layerTensors(config);
  const layers = Array.from({ length: config.layers }, (_, i) =>
    layer.map((spec) => ({ ...spec, name: `blk.${i}.${spec.name}` })),
  );
  return [...sharedTensors(config), ...layers.flat()];
}

function sizeProblems({
  heads,
  keyHeads,
  headWidth,
  rotary,
  hasAdjacentPairs,
}: DecoderConfig): string[] {
  const problems: string[] = [];
  if (heads % keyHeads !== 0) problems.push(`${heads} heads of queries for ${keyHeads} of keys`);
  const { width } = rotary;
  if (width % 2 !== 0 || width > headWidth || (hasAdjacentPairs && width !== headWidth)) {
    problems.push(
      `heads of ${headWidth} elements, of which ${width} are turned by their positions`,
    );
  }
  return problems;
}

function tensorProblems({ name, shape, type }: StoredTensor, spec: TensorSpec): string[] {
  const problems: string[] = [];
  if (shape.join() !== spec.shape.join()) {
    problems.push(`${name} of shape ${formatShape(shape)}, not ${formatShape(spec.shape)}`);
  }
  if (!READABLE_TYPES.includes(type)) problems.push(`${name} of type ${type}`);
  return problems;
}

/** Messages name so many problems. */
const MOST = 6;

function unsupported(
  where: string,
  { name }: Architecture,
  problems: readonly string[],
): UnsupportedError {
  const more = problems.length > MOST ? `, and ${problems.length - MOST} more` : '';
  const complaint = {
    where,
    got: `${problems.slice(0, MOST).join('; ')}${more}`,
    expected: `a decoder as ${name} has it, with tensors of ${READABLE_TYPES.join(', ')}`,
  };
  return new UnsupportedError(complaint, { details: { problems } });
}

/**
 * The rows of a matrix, or the elements of a vector, with the pairs of each head in halves: row i of a head and
 * row i + half make a pair, where rows 2i and 2i + 1 did. A whole row moves, so that blocks stay as they are.
 */
function halvedPairs(
  bytes: Uint8Array,
  { rows, heads }: { readonly rows: number; readonly heads: number },
): Uint8Array {
  const rowBytes = bytes.byteLength / rows;
  const height = rows / heads;
  const moved = new Uint8Array(bytes.byteLength);
  for (let row = 0; row < rows; row++) {
    const place = row % height;
    const target = row - place + Math.floor(place / 2) + (place % 2) * (height / 2);
    moved.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), target * rowBytes);
  }
  return moved;
}

interface QuantizedOptions {
  readonly name: string;
  /** True if it has a row for each token. */
  readonly isVocabulary: boolean;
  readonly quantizer: WeightQuantizer;
}

/** A matrix of stored elements, rounded to blocks of codes; in float32 where these do not divide its rows. */
function quantizedMatrix(
  bytes: Uint8Array,
  stored: StoredMatrix,
  { name, isVocabulary, quantizer }: QuantizedOptions,
): Matrix {
  const { rows, columns, type, where } = stored;
  const values = decodeElements(bytes, { type, count: rows * columns, where });
  const coded = quantizer.quantize(name, values, { columns, isVocabulary });
  return coded === undefined ? denseMatrix(stored, values) : blockMatrix(stored, coded);
}
