import { checkOptions } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import { type PictureInput, pictureInputOf } from '../pictures/model-pictures.ts';
import type { PictureOptions, Size } from '../pictures/picture-options.ts';
import type { Picture } from '../pictures/pixels.ts';
import { runOnPicture } from '../picture-task.ts';
import { requireLabels } from '../results/labels.ts';
import { outputOf, numbersOf } from '../results/numbers.ts';
import { Task } from '../task.ts';
import { labelsOf, loadTask, type TaskSource } from '../task-model.ts';
import { type CallOptions, SHARE, TASK_OPTIONS, type TaskOptions } from '../task-options.ts';
import { type Segmentation, segmentsOfClasses } from './segmentation.ts';
import { samplesOf, wholePictures } from './whole-pictures.ts';
import type { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import { type AxisSamples, cornerWeights } from './axis-samples.ts';

/** How a model that divides pictures by classes is loaded. */
export interface ImageSegmenterOptions extends TaskOptions {
  /** Names of the classes, in order. Default: `id2label` of `config.json`, else numbers. */
  readonly labels?: readonly string[] | undefined;
  /** How pictures are prepared; takes precedence over the model's files. */
  readonly pictures?: PictureOptions | undefined;
}

interface SegmentOptions extends CallOptions {
  /** Things that are less sure are left out, of models that tell of single things. Default 0.5. */
  readonly threshold?: number | undefined;
  /** Of those models: a thing is left out if others leave less than this part of its pixels. Default 0.8. */
  readonly leastShare?: number | undefined;
}

/**
 * Loads a model that says of each pixel what it belongs to: by classes, such as SegFormer or DeepLab, (1, classes, H, W) in any size; or
 * by queries, such as DETR with a panoptic head, MaskFormer and Mask2Former, with a class (1, queries, classes and nothing) and a mask
 * (1, queries, H, W) of each. Rejects as `Session.load` does, and with ShapeError for a model that takes no pictures.
 */
export async function imageSegmenter(
  source: TaskSource,
  options: ImageSegmenterOptions = {},
): Promise<ImageSegmenter> {
  checkOptions<ImageSegmenterOptions>('imageSegmenter', options, {
    labels: 'names',
    pictures: 'object',
    ...TASK_OPTIONS,
  });
  const { labels, pictures, ...place } = options;
  return loadTask(async (load) => {
    const model = await load(source, place);
    return new ImageSegmenter(model.session, {
      input: wholePictures(pictureInputOf(model.session, model.preprocessor, pictures)),
      labels: labels ?? labelsOf(model.config),
    });
  });
}

interface SegmenterParts {
  readonly input: PictureInput;
  readonly labels: readonly string[] | undefined;
}

/** Says of each pixel of a picture what it belongs to. */
export class ImageSegmenter extends Task {
  /** How pictures are prepared for the model: by the options, its input and its files. */
  readonly pictures: PictureOptions;
  readonly #parts: SegmenterParts;

  /** @internal */
  constructor(session: Session, parts: SegmenterParts) {
    super([session]);
    this.pictures = parts.input.options;
    this.#parts = parts;
  }

  /**
   * Divides a picture by classes, or into single things, in its own size. Rejects with UsageError for a picture without pixels, and with
   * ShapeError for a model whose first result, or that of the name `logits`, has no numbers for classes.
   */
  async segment(picture: Picture, options: SegmentOptions = {}): Promise<Segmentation> {
    checkOptions<SegmentOptions>('segment', options, {
      threshold: SHARE,
      leastShare: SHARE,
      signal: 'signal',
    });
    const { input, labels } = this.#parts;
    const { threshold = 0.5, leastShare = 0.8, signal } = options;
    const { outputs, place } = await runOnPicture(this.session, input, { picture, signal });
    if (Object.values(outputs).length > 1) {
      const { queryOutputs, segmentByQueries } = await import('./query-masks.ts');
      const queries = queryOutputs(outputs);
      const rules = { place, labels, threshold, leastShare };
      if (queries !== undefined) return segmentByQueries(queries, rules);
    }
    const isLast = this.pictures.layout === 'nhwc';
    const scores = classScores(outputOf(outputs, ['logits']), {
      whole: place.whole,
      labels,
      isLast,
    });
    requireLabels(labels, scores.classes);
    const { columns, rows } = samplesOf(place, scores);
    return segmentsOfClasses(place.source, classifyPixels(scores, columns, rows), labels);
  }
}

/** Numbers for each class at the places of a mask. */
export interface ClassScores extends Size {
  readonly numbers: Float32Array | Float64Array;
  readonly classes: number;
  /** Elements from one class to the next. */
  readonly classStep: number;
  /** Elements from one place to the next. */
  readonly placeStep: number;
}

/** Facts by which the dimension of the classes is found. */
interface ClassLayout {
  /** The size of the model's picture, of which a mask has the proportions. */
  readonly whole: Size;
  readonly labels: readonly string[] | undefined;
  /** True if pictures have channels last, which decides where nothing else does. */
  readonly isLast: boolean;
}

/**
 * Reads [1, classes, rows, columns], or with classes last: where there are names for so many, where only that has the proportions of the
 * picture, or where pictures have channels last. Throws ShapeError for other dimensions, and for a single class.
 */
function classScores(output: Tensor, layout: ClassLayout): ClassScores {
  const [batch, ...dims] = output.shape;
  const isLast = areClassesLast(dims, layout);
  const [classes = 0, height = 0, width = 0] = isLast ? [dims[2], dims[0], dims[1]] : dims;
  if (output.shape.length !== 4 || batch !== 1 || classes < 2) {
    throw new ShapeError({
      where: 'the result of the model',
      got: `${output.dtype} [${output.shape.join(', ')}]`,
      expected: isLast ? '[1, rows, columns, classes]' : '[1, classes, rows, columns]',
      ...(classes === 1 ? { remedy: 'backgroundRemoval takes models of one mask.' } : {}),
    });
  }
  const steps = isLast
    ? { classStep: 1, placeStep: classes }
    : { classStep: width * height, placeStep: 1 };
  return { numbers: numbersOf(output), classes, width, height, ...steps };
}

function areClassesLast(
  [first = 0, second = 0, third = 0]: readonly number[],
  { whole, labels, isLast }: ClassLayout,
): boolean {
  const isNamed = labels !== undefined && (first === labels.length) !== (third === labels.length);
  if (isNamed) return third === labels.length;
  // Sides of a mask are rounded, so they are off by one at most.
  const hasProportions = (height: number, width: number): boolean =>
    Math.abs(width * whole.height - height * whole.width) <= Math.max(whole.width, whole.height);
  const [before, behind] = [hasProportions(second, third), hasProportions(first, second)];
  return before === behind ? isLast : behind;
}

/**
 * The class with the highest score at each pixel, of equal ones the first: scores are interpolated first, then compared. Where a class is
 * the highest at all four places around a pixel, it is so at the pixel, and nothing is computed.
 */
export function classifyPixels(
  scores: ClassScores,
  columns: AxisSamples,
  rows: AxisSamples,
): Uint16Array<ArrayBuffer> {
  const { width } = scores;
  const best = highest(scores);
  const classAt = interpolated(scores);
  const out = new Uint16Array(columns.shares.length * rows.shares.length);
  let at = 0;
  for (const [y, down] of rows.shares.entries()) {
    const top = (rows.before[y] ?? 0) * width;
    const bottom = (rows.after[y] ?? 0) * width;
    for (const [x, across] of columns.shares.entries()) {
      const left = columns.before[x] ?? 0;
      const right = columns.after[x] ?? 0;
      const first = best[top + left] ?? 0;
      const isSame =
        first === best[top + right] &&
        first === best[bottom + left] &&
        first === best[bottom + right];
      out[at++] = isSame
        ? first
        : classAt([top + left, top + right, bottom + left, bottom + right], across, down);
    }
  }
  return out;
}

function highest({ numbers, classes, width, height, classStep, placeStep }: ClassScores) {
  const best = new Uint16Array(width * height);
  for (let place = 0; place < best.length; place++) {
    let at = place * placeStep;
    let most = numbers[at] ?? 0;
    for (let index = 1; index < classes; index++) {
      at += classStep;
      const score = numbers[at] ?? 0;
      if (score <= most) continue;
      most = score;
      best[place] = index;
    }
  }
  return best;
}

type Corners = readonly [number, number, number, number];

/** The class with the highest score between four places, in float32 as the scores are. */
function interpolated({ numbers, classes, classStep, placeStep }: ClassScores) {
  return ([a, b, c, d]: Corners, across: number, down: number): number => {
    const [first, second, third, fourth] = cornerWeights(across, down);
    let best = 0;
    let most = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < classes; index++) {
      const from = index * classStep;
      const score = Math.fround(
        first * (numbers[from + a * placeStep] ?? 0) +
          second * (numbers[from + b * placeStep] ?? 0) +
          third * (numbers[from + c * placeStep] ?? 0) +
          fourth * (numbers[from + d * placeStep] ?? 0),
      );
      if (score <= most) continue;
      most = score;
      best = index;
    }
    return best;
  };
}
