// Trains the network of the page's first section and writes models/digits and public/models/digits.weft:
//
//   cd scripts/train && npm ci && npm run train
//
// The training set is rendered, not collected: src/demo/digits/write-digit.ts writes the digits, and
// grey-pictures.ts draws pictures that are none. Everything follows from the seed. About forty
// minutes on one core.
import { defaultDevice, init, jit, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { sampleDigit } from '../../src/demo/digits/write-digit.ts';
import { seededRandom } from '../../src/core/random.ts';
import {
  digitRows,
  imagePatches,
  logits,
  loss,
  NETWORK_SHAPES,
  type Network,
  PATCHES,
} from './digit-network.ts';
import { labelledPictures, type LabelledPicture } from './grey-pictures.ts';
import { writeDigits } from './write-digits.ts';

type Array = np.Array;
type Weights = Network<Array>;

const SEED = 20;
/** A quarter of a batch are digits, the others are pictures. */
const BATCH = 128;
const PICTURES = Number(process.env.PICTURES ?? 60_000);
/** Kept out of the training, to see how often the network says what its teacher says. */
const HELD_OUT = 1024;
const STEPS = Number(process.env.STEPS ?? 3000);
const CHECK_EVERY = 250;
const PEAK_RATE = 3e-3;
const REQUIRED = 0.97;
/** Softens the targets: the page shows probabilities, and certainty about everything is no use. */
const SMOOTHING = 0.02;

interface Batch {
  readonly patches: Array;
  readonly targets: Array;
  readonly digits: readonly number[];
}

interface Labelled {
  readonly digit: number;
  readonly image: Float32Array;
  /** Ten centred scores, of pictures that are no digits. */
  readonly scores?: Float32Array;
}

type Sample = () => Labelled;

function makeBatch(sample: (index: number) => Labelled): Batch {
  const patches = new Float32Array(BATCH * PATCHES * 25);
  const targets = new Float32Array(BATCH * 10);
  const digits: number[] = [];
  for (let i = 0; i < BATCH; i++) {
    const { digit, image, scores } = sample(i);
    imagePatches(image, patches, i * PATCHES * 25);
    if (scores === undefined) targets.fill(SMOOTHING / 10, i * 10, i * 10 + 10);
    if (scores === undefined) targets[i * 10 + digit] = 1 - 0.9 * SMOOTHING;
    else targets.set(scores, i * 10);
    digits.push(digit);
  }
  return {
    patches: np.array(patches).reshape([BATCH * PATCHES, 25]),
    targets: np.array(targets).reshape([BATCH, 10]),
    digits,
  };
}

/** He initialisation, from our own seeded source. */
function initialWeights(random: () => number): Weights {
  const entries = Object.entries(NETWORK_SHAPES).map(([name, shape]) => {
    const count = shape.reduce((product, dim) => product * dim, 1);
    const bound = shape.length === 1 ? 0 : Math.sqrt(6 / (shape[0] ?? 1));
    const values = Float32Array.from({ length: count }, () => bound * (2 * random() - 1));
    return [name, np.array(values).reshape([...shape])];
  });
  return Object.fromEntries(entries);
}

const zerosLike = (weights: Weights): Weights => map(weights, (w) => np.zeros(w.shape));

function map(weights: Weights, change: (value: Array, name: keyof Weights) => Array): Weights {
  const entries = Object.entries(weights);
  return Object.fromEntries(
    entries.map(([name, w]) => [name, change(w, name as keyof Weights)]),
  ) as Weights;
}

const refs = (weights: Weights): Weights => map(weights, (w) => w.ref);

/** One step of Adam. `rate` and the bias corrections travel as scalars so that one trace serves. */
const step = jit(
  (
    weights: Weights,
    mean: Weights,
    square: Weights,
    patches: Array,
    targets: Array,
    scalars: Array,
  ) => {
    const [value, slope] = valueAndGrad((w: Weights) => loss(w, patches, targets, BATCH))(
      refs(weights),
    );
    const rate = scalars.ref.slice(0);
    const fixMean = scalars.ref.slice(1);
    const fixSquare = scalars.slice(2);
    const newMean = map(mean, (m, name) => m.mul(0.9).add(slope[name].ref.mul(0.1)));
    const newSquare = map(square, (s, name) => s.mul(0.999).add(np.square(slope[name]).mul(0.001)));
    const next = map(weights, (w, name) => {
      const direction = newMean[name].ref.mul(fixMean.ref);
      const size = np.sqrt(newSquare[name].ref.mul(fixSquare.ref)).add(1e-7);
      return w.sub(direction.div(size).mul(rate.ref));
    });
    for (const scalar of [rate, fixMean, fixSquare]) scalar.dispose();
    return { value, weights: next, mean: newMean, square: newSquare };
  },
);

const predict = jit((weights: Weights, patches: Array) => logits(weights, patches, BATCH));

/** The share of samples that are read as what they are. */
async function accuracy(weights: Weights, sample: Sample, batches: number): Promise<number> {
  let right = 0;
  for (let b = 0; b < batches; b++) {
    const { patches, targets, digits } = makeBatch(sample);
    targets.dispose();
    const scores = await predict(refs(weights), patches).data();
    digits.forEach((digit, i) => {
      const row = [...scores.slice(i * 10, i * 10 + 10)];
      if (row.indexOf(Math.max(...row)) === digit) right++;
    });
  }
  return right / (batches * BATCH);
}

export async function main(): Promise<number> {
  await init('wasm');
  defaultDevice('wasm');
  const random = seededRandom(SEED);
  const pictures = await labelledPictures(PICTURES, seededRandom(SEED + 1));
  const heldOut = pictures.splice(0, HELD_OUT);
  const freshDigits = (seed: number): Sample => {
    const source = seededRandom(seed);
    return () => sampleDigit(source);
  };
  const anyPicture = (): LabelledPicture => {
    const picture = pictures[Math.floor(random() * pictures.length)];
    if (picture === undefined) throw new Error('PICTURES is too small');
    return picture;
  };
  let weights = initialWeights(random);
  let mean = zerosLike(weights);
  let square = zerosLike(weights);
  const started = Date.now();
  for (let i = 1; i <= STEPS; i++) {
    const { patches, targets } = makeBatch((index) =>
      index < digitRows(BATCH) ? sampleDigit(random) : anyPicture(),
    );
    const warm = Math.min(1, i / 200);
    const rate = PEAK_RATE * warm * (0.5 + 0.5 * Math.cos((Math.PI * i) / STEPS));
    const scalars = np.array([rate, 1 / (1 - 0.9 ** i), 1 / (1 - 0.999 ** i)]);
    const result = step(weights, mean, square, patches, targets, scalars);
    ({ weights, mean, square } = result);
    const value = await result.value.data();
    if (i % CHECK_EVERY === 0) {
      const fresh = await accuracy(weights, freshDigits(1), 4);
      const alike = await accuracy(weights, cycle(heldOut), HELD_OUT / BATCH);
      const seconds = Math.round((Date.now() - started) / 1000);
      console.log(
        `step ${i}  loss ${Number(value[0]).toFixed(3)}  fresh ${fresh}  as its teacher ${alike}  ${seconds} s`,
      );
    }
  }
  const reached = await accuracy(weights, freshDigits(2), 50);
  console.log(`accuracy on 6400 fresh digits: ${reached}`);
  if (reached < REQUIRED) {
    console.error(`Nothing was written: at least ${REQUIRED} is expected.`);
    return 1;
  }
  const names = Object.keys(NETWORK_SHAPES) as (keyof Weights)[];
  const values = await Promise.all(
    names.map(async (name) => [name, [...(await weights[name].data())]]),
  );
  return writeDigits(Object.fromEntries(values));
}

/** One after another, for ever. */
function cycle(pictures: readonly LabelledPicture[]): Sample {
  let next = 0;
  return () => {
    const picture = pictures[next++ % pictures.length];
    if (picture === undefined) throw new Error('internal: no pictures');
    return picture;
  };
}
