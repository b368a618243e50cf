import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { HostTensor as Tensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { sampleDigit } from '../../src/demo/digits/write-digit.ts';
import { drawNormal, drawPicture, drawSound, type Random, scaledTensor } from './draw-inputs.ts';

export type ModelInputs = Readonly<Record<string, HostTensor>>;

/** A trained model of ../shared/models. */
export interface TrainedModel {
  readonly name: string;
  /** Inputs of its own kind: pictures, digits, sound. */
  readonly draw: (random: Random) => ModelInputs;
  /** The output whose rows name a class, if any. */
  readonly classes?: string;
  /** Inputs that outputs of these names go to in the next step. */
  readonly carries?: Readonly<Record<string, string>>;
  /** Sizes, where the model has symbols. */
  readonly dims?: readonly string[];
}

const digit =
  (name: string, scale: number) =>
  (random: Random): ModelInputs => ({
    [name]: scaledTensor([1, 1, 28, 28], sampleDigit(random).image, [scale, 0]),
  });

const picture =
  (
    name: string,
    shape: readonly [number, number, number],
    scale: readonly [number, number] = [1, 0],
  ) =>
  (random: Random): ModelInputs => ({
    [name]: scaledTensor([1, ...shape], drawPicture(random, shape), scale),
  });

const STATE = 2 * 128;

function sound(random: Random): ModelInputs {
  return {
    input: scaledTensor([1, 576], drawSound(random, 576)),
    // States that the model's own steps leave behind lie in this range.
    state: scaledTensor([2, 1, 128], drawNormal(random, STATE), [0.3, 0]),
    sr: Tensor.from('int64', [], [16_000n]),
  };
}

function sequence(random: Random): ModelInputs {
  const length = 4 + Math.floor(12 * random());
  return { Input13165: scaledTensor([length, 1, 3], drawNormal(random, length * 3)) };
}

export const TRAINED_MODELS: readonly TrainedModel[] = [
  { name: 'mnist-cntk', draw: digit('Input3', 255), classes: 'Plus214_Output_0' },
  { name: 'mnist-pytorch-cnn', draw: digit('0', 1), classes: '21' },
  {
    name: 'squeezenet-coreml',
    draw: picture('data2', [3, 227, 227], [255, -115]),
    classes: 'loss1',
  },
  { name: 'superres-core', draw: picture('input', [1, 224, 224]) },
  { name: 'ultraface-rfb-320', draw: picture('input', [3, 240, 320], [2, -1]), classes: 'scores' },
  {
    name: 'silero-vad-v6-16k-op15',
    draw: sound,
    carries: { stateN: 'state' },
    dims: ['batch=1', 'sequence=576'],
  },
  { name: 'scan-lstm-cntk', draw: sequence, dims: ['Sequence=8'] },
  {
    name: 'mobilenetv2-qdq',
    draw: picture('image', [3, 244, 244], [4, -2]),
    classes: 'scores',
    dims: ['batch=1'],
  },
];

/** Input number `index` of a model, the same each time. */
export const inputOf = ({ draw }: TrainedModel, index: number): ModelInputs =>
  draw(seededRandom(1000 + index));
