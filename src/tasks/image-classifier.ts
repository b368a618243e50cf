import { checkOptions } from '../core/check-options.ts';
import type { Session } from '../client/session.ts';
import { UsageError } from '../core/errors.ts';
import { batchesFor } from './fixed-batches.ts';
import { type PictureInput, pictureInputOf, requireSize } from './pictures/model-pictures.ts';
import type { PictureOptions } from './pictures/picture-options.ts';
import type { Picture } from './pictures/pixels.ts';
import { runOnPictures } from './picture-task.ts';
import {
  activate,
  ACTIVATION,
  type Activation,
  areProbabilities,
  type LabelScore,
  topLabels,
} from './results/labels.ts';
import type * as ClassRows from './results/class-rows.ts';
import { Task } from './task.ts';
import { labelsOf, loadTask, type TaskSource } from './task-model.ts';
import { type CallOptions, TASK_OPTIONS, type TaskOptions } from './task-options.ts';

/** How a classifier is loaded. */
export interface ImageClassifierOptions extends TaskOptions {
  /** Names of the classes, in order. Default: `id2label` of `config.json`, else numbers. */
  readonly labels?: readonly string[] | undefined;
  /** How pictures are prepared; takes precedence over the model's files. */
  readonly pictures?: PictureOptions | undefined;
  /**
   * How the model's numbers become scores. Default: `sigmoid` where `config.json` says `multi_label_classification`, else `softmax`, but for
   * numbers that are probabilities already (`areProbabilities`). A model that gives one number has to be told.
   */
  readonly activation?: Activation | undefined;
  /** The output with the numbers for classes. Default: `logits`, or the only one of such dimensions. */
  readonly output?: string | undefined;
}

interface ClassifyOptions extends CallOptions {
  /** The classes that are given, the likeliest first. Default 5. */
  readonly topK?: number | undefined;
}

/**
 * Loads a model that says what is in a picture: (N, C, H, W) or (N, H, W, C) in, (N, classes) out. Rejects as `Session.load`
 * does, with ShapeError for a model that takes no pictures or has several outputs that might be meant, and with UsageError where nothing says
 * how large pictures are to be.
 */
export async function imageClassifier(
  source: TaskSource,
  options: ImageClassifierOptions = {},
): Promise<ImageClassifier> {
  checkOptions<ImageClassifierOptions>('imageClassifier', options, {
    labels: 'names',
    pictures: 'object',
    activation: ACTIVATION,
    output: 'text',
    ...TASK_OPTIONS,
  });
  const { labels, pictures, activation, output, ...place } = options;
  return loadTask(async (load) => {
    const [{ session, preprocessor, config }, rows] = await Promise.all([
      load(source, place),
      import('./results/class-rows.ts'),
    ]);
    const input = pictureInputOf(session, preprocessor, pictures);
    requireSize(session, input);
    const names = labels ?? labelsOf(config);
    const isMany = config['problem_type'] === 'multi_label_classification';
    return new ImageClassifier(session, {
      input,
      labels: names,
      output: rows.classOutput(session.outputs, names, output),
      activation: activation ?? (isMany ? 'sigmoid' : undefined),
      rows,
    });
  });
}

interface ClassifierParts {
  readonly input: PictureInput;
  readonly labels: readonly string[] | undefined;
  readonly output: string;
  readonly activation: Activation | undefined;
  readonly rows: typeof ClassRows;
}

/** Says what is in a picture. */
export class ImageClassifier extends Task {
  /** How pictures are prepared for the model: by the options, its input and its files. */
  readonly pictures: PictureOptions;
  readonly #parts: ClassifierParts;

  /** @internal */
  constructor(session: Session, parts: ClassifierParts) {
    super([session]);
    this.pictures = parts.input.options;
    this.#parts = parts;
  }

  /** The likeliest classes of a picture. Rejects with UsageError for a picture without pixels. */
  async classify(picture: Picture, options: ClassifyOptions = {}): Promise<LabelScore[]> {
    const [first = []] = await this.classifyAll([picture], options);
    return first;
  }

  /** The likeliest classes of each of several pictures, in one run, or in as many as a model with a fixed number of them needs. */
  async classifyAll(
    pictures: readonly Picture[],
    options: ClassifyOptions = {},
  ): Promise<LabelScore[][]> {
    checkOptions<ClassifyOptions>('classify', options, { topK: 'count', signal: 'signal' });
    const { topK = 5, signal } = options;
    const { input, labels, output, rows } = this.#parts;
    const found: LabelScore[][] = [];
    for (const { things, count } of batchesFor(this.session, input.name, pictures)) {
      const { outputs } = await runOnPictures(this.session, input, { pictures: things, signal });
      for (const numbers of rows.classRows(outputs[output], things.length).slice(0, count)) {
        found.push(topLabels(activate(numbers, this.#activationOf(numbers)), { topK, labels }));
      }
    }
    return found;
  }

  #activationOf(numbers: Float64Array): Activation {
    const { activation } = this.#parts;
    if (activation !== undefined) return activation;
    if (numbers.length > 1) return areProbabilities(numbers) ? 'none' : 'softmax';
    throw new UsageError({
      where: 'the result of the model',
      got: 'one number for a picture',
      expected: 'numbers for two classes or more, which softmax compares',
      remedy: 'Give activation: sigmoid for a number before a sigmoid, none for a likelihood.',
    });
  }
}
