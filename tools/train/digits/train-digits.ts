// Trains the network of the page's first section with Weft itself, and writes models/digits and
// public/models/digits.weft:
//
//   node scripts/run-ts.mjs tools/train/digits/train-digits.ts [--steps N] [--pictures N] [--threads N]
//
// The training set is rendered, not collected: src/demo/digits/write-digit.ts writes the digits, and
// grey-pictures.ts draws pictures that are none. Everything follows from the seed.
import { parseArgs } from 'node:util';
import { Tensor } from '../../../src/client/index.ts';
import { seededRandom } from '../../../src/core/random.ts';
import { sampleDigit } from '../../../src/demo/digits/write-digit.ts';
import { Trainer } from '../trainer.ts';
import { DIGIT_PARAMETERS, digitRows, digitTraining } from './digit-network.ts';
import { labelledPictures, type LabelledPicture } from './grey-pictures.ts';
import { writeDigits } from './write-digits.ts';

const SEED = 20;
/** A quarter of a batch are digits, the others are pictures. */
const BATCH = 128;
const PIXELS = 28 * 28;
/** Kept out of the training, to see how often the network says what its teacher says. */
const HELD_OUT = 1024;
const CHECK_EVERY = 250;
const PEAK_RATE = 3e-3;
const WARM_UP = 200;
const REQUIRED = 0.97;
/** Softens the targets: the page shows probabilities, and certainty about everything is no use. */
const SMOOTHING = 0.02;

interface Labelled {
  readonly digit: number;
  readonly image: Float32Array;
  /** Ten centred scores, of pictures that are no digits. */
  readonly scores?: Float32Array;
}

type Sample = (index: number) => Labelled;

interface Batch {
  readonly inputs: { readonly images: Tensor; readonly targets: Tensor };
  readonly digits: readonly number[];
}

function makeBatch(sample: Sample): Batch {
  const images = new Float32Array(BATCH * PIXELS);
  const targets = new Float32Array(BATCH * 10);
  const digits: number[] = [];
  for (let i = 0; i < BATCH; i++) {
    const { digit, image, scores } = sample(i);
    images.set(image, i * PIXELS);
    if (scores === undefined) targets.fill(SMOOTHING / 10, i * 10, i * 10 + 10);
    if (scores === undefined) targets[i * 10 + digit] = 1 - 0.9 * SMOOTHING;
    else targets.set(scores, i * 10);
    digits.push(digit);
  }
  return {
    inputs: {
      images: new Tensor('float32', images, [BATCH, 1, 28, 28]),
      targets: new Tensor('float32', targets, [BATCH, 10]),
    },
    digits,
  };
}

/** Uniform numbers as He et al. 2015 scale them for layers with relu; biases stay 0. */
function fillAtRandom(values: Float32Array, name: string, random: () => number): void {
  const shape = DIGIT_PARAMETERS.get(name) ?? [];
  if (shape.length === 1) return;
  const outputs = shape[shape.length === 2 ? 1 : 0] ?? 1;
  const bound = Math.sqrt((6 * outputs) / values.length);
  for (let i = 0; i < values.length; i++) values[i] = bound * (2 * random() - 1);
}

/** The share of samples that are read as what they are. */
async function accuracy(trainer: Trainer, sample: Sample, batches: number): Promise<number> {
  let right = 0;
  for (let b = 0; b < batches; b++) {
    const { inputs, digits } = makeBatch(sample);
    const scores = await trainer.evaluate('scores', { images: inputs.images });
    digits.forEach((digit, i) => {
      const row = scores.subarray(i * 10, i * 10 + 10);
      if (row.indexOf(Math.max(...row)) === digit) right++;
    });
  }
  return right / (batches * BATCH);
}

const freshDigits = (seed: number): Sample => {
  const source = seededRandom(seed);
  return () => sampleDigit(source);
};

/** Each item in turn, from the first again after the last. */
function inTurn<T>(items: readonly T[]): () => T {
  let next = 0;
  return () => {
    const item = items[next++ % items.length];
    if (item === undefined) throw new Error(`--pictures: more than ${HELD_OUT} are needed.`);
    return item;
  };
}

/** Digits first, then pictures chosen at random, forever. */
function mixture(pictures: readonly LabelledPicture[], random: () => number): Sample {
  return (index) => {
    if (index < digitRows(BATCH)) return sampleDigit(random);
    const picture = pictures[Math.floor(random() * pictures.length)];
    if (picture === undefined) throw new Error(`--pictures: more than ${HELD_OUT} are needed.`);
    return picture;
  };
}

export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      steps: { type: 'string', default: '3000' },
      pictures: { type: 'string', default: '60000' },
      threads: { type: 'string', default: '2' },
    },
  });
  const random = seededRandom(SEED);
  const pictures = await labelledPictures(Number(values.pictures), seededRandom(SEED + 1));
  const heldOut = pictures.splice(0, HELD_OUT);
  const trainer = await Trainer.open(digitTraining(BATCH), DIGIT_PARAMETERS, {
    threads: Number(values.threads),
    initial: (parameter, name) => fillAtRandom(parameter, name, random),
  });
  await train(trainer, { steps: Number(values.steps), sample: mixture(pictures, random), heldOut });
  const reached = await accuracy(trainer, freshDigits(2), 50);
  console.log(`accuracy on 6400 fresh digits: ${reached}`);
  const isGood = reached >= REQUIRED;
  if (!isGood) console.error(`Nothing was written: at least ${REQUIRED} is expected.`);
  const status = isGood ? await writeDigits(trainer) : 1;
  await trainer.dispose();
  return status;
}

interface Training {
  readonly steps: number;
  readonly sample: Sample;
  readonly heldOut: readonly LabelledPicture[];
}

async function train(trainer: Trainer, { steps, sample, heldOut }: Training): Promise<void> {
  const started = performance.now();
  while (trainer.steps < steps) {
    const step = trainer.steps + 1;
    const warm = Math.min(1, step / WARM_UP);
    const rate = PEAK_RATE * warm * (0.5 + 0.5 * Math.cos((Math.PI * step) / steps));
    const { loss } = await trainer.step(makeBatch(sample).inputs, rate);
    if (step % CHECK_EVERY !== 0) continue;
    const fresh = await accuracy(trainer, freshDigits(1), 4);
    const alike = await accuracy(trainer, inTurn(heldOut), HELD_OUT / BATCH);
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(
      `step ${step}  loss ${loss.toFixed(3)}  fresh ${fresh}  as its teacher ${alike}  ${seconds} s`,
    );
  }
}
