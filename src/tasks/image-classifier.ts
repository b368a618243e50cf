import { checkOptions, COUNT, NAMES, OBJECT, oneOf, SIGNAL } from '../client/check-options.ts';
import type { Session } from '../client/session.ts';
import type { ValueInfo } from '../worker/protocol/loaded-session.ts';
import { ShapeError } from '../core/errors.ts';
import { type PictureInput, pictureInputOf } from './pictures/model-pictures.ts';
import type { PictureOptions } from './pictures/picture-options.ts';
import type { Picture } from './pictures/pixels.ts';
import { runOnPictures } from './picture-task.ts';
import {
  activate,
  type Activation,
  areProbabilities,
  type LabelScore,
  requireLabels,
  topLabels,
} from './results/labels.ts';
import { numbersOf, outputOf } from './results/numbers.ts';
import { Task } from './task.ts';
import { labelsOf, loadTask, type TaskSource } from './task-model.ts';
import { type CallOptions, TASK_OPTIONS, type TaskOptions } from './task-options.ts';

/** How a classifier is loaded. */
export interface ImageClassifierOptions extends TaskOptions {
  /** Names of the classes, in order. Default: `id2label` of `config.json`, else numbers. */
  readonly labels?: readonly string[] | undefined;
  /** What the model expects of pictures, before what its files say. */
  readonly pictures?: PictureOptions | undefined;
  /**
   * How the model's numbers become scores. Default: `sigmoid` where `config.json` says `multi_label_classification`, `none` for
   * numbers that are probabilities already (`areProbabilities`), else `softmax`.
   */
  readonly activation?: Activation | undefined;
}

/** How one picture is classified. */
export interface ClassifyOptions extends CallOptions {
  /** The classes that are given, the likeliest first. Default 5. */
  readonly topK?: number | undefined;
}

/**
 * Loads a model that says what is in a picture: (N, C, H, W) or (N, H, W, C) in, (N, classes) out, or that with dimensions of 1.
 * Rejects as `Session.load` does, and with ShapeError for a model that takes no pictures or gives something else.
 */
export async function imageClassifier(
  source: TaskSource,
  options: ImageClassifierOptions = {},
): Promise<ImageClassifier> {
  const { labels, pictures, activation, ...place } = options;
  const { file, config, preprocessor, cache } = options;
  const own = { labels, pictures, activation, file, config, preprocessor, cache };
  checkOptions<typeof own>('imageClassifier', own, {
    ...TASK_OPTIONS,
    labels: NAMES,
    pictures: OBJECT,
    activation: oneOf('softmax', 'sigmoid', 'none'),
  });
  return loadTask(async (load) => {
    const model = await load(source, place);
    const isMany = model.config['problem_type'] === 'multi_label_classification';
    return new ImageClassifier(model.session, {
      input: pictureInputOf(model.session, model.preprocessor, pictures),
      labels: labels ?? labelsOf(model.config),
      activation: activation ?? (isMany ? 'sigmoid' : undefined),
    });
  });
}

/** Names of the output, before the first one. */
const OUTPUTS = ['logits'];

interface ClassifierParts {
  readonly input: PictureInput;
  readonly labels: readonly string[] | undefined;
  /** Undefined for softmax, unless it was computed already. */
  readonly activation: Activation | undefined;
}

/** How many numbers a model gives for a picture, if that is known. Throws ShapeError where they are no list. */
function classCountOf({ name, dtype, shape }: ValueInfo): number | undefined {
  const sizes = shape.slice(shape.length > 1 ? 1 : 0).filter((size) => size !== 1);
  const known = sizes.filter((size) => typeof size === 'number');
  if (known.length > 1) {
    throw new ShapeError({
      where: 'the model',
      got: `${name}: ${dtype} [${shape.join(', ')}]`,
      expected: '[N, classes]',
    });
  }
  return known.length < sizes.length ? undefined : known[0];
}

/** Says what is in a picture. */
export class ImageClassifier extends Task {
  /** What the model expects of pictures. */
  readonly pictures: PictureOptions;
  readonly #parts: ClassifierParts;

  /** @internal */
  constructor(session: Session, parts: ClassifierParts) {
    super([session]);
    const outputs = Object.fromEntries(session.outputs.map((output) => [output.name, output]));
    const count = classCountOf(outputOf(outputs, OUTPUTS));
    if (count !== undefined) requireLabels(parts.labels, count);
    this.pictures = parts.input.options;
    this.#parts = parts;
  }

  /** The likeliest classes of a picture. Rejects with UsageError for a picture without pixels. */
  async classify(picture: Picture, options: ClassifyOptions = {}): Promise<LabelScore[]> {
    const [first = []] = await this.classifyAll([picture], options);
    return first;
  }

  /** The likeliest classes of each of several pictures, in one run. */
  async classifyAll(
    pictures: readonly Picture[],
    options: ClassifyOptions = {},
  ): Promise<LabelScore[][]> {
    checkOptions<ClassifyOptions>('classify', options, { topK: COUNT, signal: SIGNAL });
    const { topK = 5, signal } = options;
    const { input, labels, activation } = this.#parts;
    const { outputs } = await runOnPictures(this.session, input, { pictures, signal });
    const numbers = numbersOf(outputOf(outputs, OUTPUTS));
    const count = numbers.length / pictures.length;
    return pictures.map((_, i) => {
      const own = numbers.subarray(i * count, (i + 1) * count);
      const how = activation ?? (areProbabilities(own) ? 'none' : 'softmax');
      return topLabels(activate(own, how), { topK, labels });
    });
  }
}
