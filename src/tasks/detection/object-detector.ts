import { checkOptions, oneOf } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { Point } from '../../core/pictures/rectangle.ts';
import { type PictureInput, pictureInputOf, requireSize } from '../pictures/model-pictures.ts';
import type { PictureOptions } from '../pictures/picture-options.ts';
import type { Picture } from '../pictures/pixels.ts';
import { runOnPicture } from '../picture-task.ts';
import type { ScoredBox } from '../results/boxes.ts';
import { requireLabels } from '../results/labels.ts';
import type { Mask } from '../segmentation/segmentation.ts';
import { Task } from '../task.ts';
import { labelsOf, loadTask, type TaskSource } from '../task-model.ts';
import { type CallOptions, SHARE, TASK_OPTIONS, type TaskOptions } from '../task-options.ts';
import { DETECTOR_SHAPES, type DetectorShape } from './detector-shape.ts';
import type { KeyPoint } from './output-matrix.ts';
import type * as Candidates from './read-candidates.ts';

/** How a detector is loaded. */
export interface ObjectDetectorOptions extends TaskOptions {
  /** Names of the classes, in order. Default: `id2label` of `config.json`, else numbers. */
  readonly labels?: readonly string[] | undefined;
  /** How pictures are prepared; takes precedence over the model's files. */
  readonly pictures?: PictureOptions | undefined;
  /**
   * The layout of the outputs. Default: by their names and shapes, and for those of DETR the number
   * of labels.
   */
  readonly shape?: DetectorShape | undefined;
}

/** How things are looked for in one picture. */
interface DetectOptions extends CallOptions {
  /** Things that are less sure are left out. Default 0.5. */
  readonly threshold?: number | undefined;
  /** Of things of one class that overlap by more than this, the surest stays. Default 0.5; 1 keeps all. */
  readonly overlap?: number | undefined;
  /** The most things that are given, the surest first. Default 100. */
  readonly topK?: number | undefined;
}

/** A thing in a picture. */
export interface DetectedObject extends ScoredBox {
  /** The name of its class; its number as text for a model without names. */
  readonly label: string;
  /**
   * 255 for its pixels and 0 for all others, in the picture's size, of models that tell them: YOLO's segmentation, Mask R-CNN.
   */
  readonly mask?: (() => Mask) | undefined;
  /** Its key points in the order of the model, of models of poses. */
  readonly points?: readonly KeyPoint[];
  /** The corners of its own box, which may be turned, of models of turned boxes; `box` is the upright one around it. */
  readonly corners?: readonly Point[];
}

/**
 * Loads a model that finds things in pictures. Rejects as `Session.load` does, with ShapeError for a model whose outputs are
 * none of the known shapes, and with UsageError where nothing says how large pictures are to be.
 */
export async function objectDetector(
  source: TaskSource,
  options: ObjectDetectorOptions = {},
): Promise<ObjectDetector> {
  checkOptions<ObjectDetectorOptions>('objectDetector', options, {
    labels: 'names',
    pictures: 'object',
    shape: oneOf(...DETECTOR_SHAPES),
    ...TASK_OPTIONS,
  });
  const { labels, pictures, shape, ...place } = options;
  return loadTask(async (load) => {
    const [{ session, preprocessor, config }, { candidateReader, suppressCandidates }] =
      await Promise.all([load(source, place), import('./read-candidates.ts')]);
    const input = pictureInputOf(session, preprocessor, pictures);
    requireSize(session, input);
    return new ObjectDetector(session, {
      input,
      labels: labels ?? labelsOf(config),
      read: candidateReader(session, shape),
      suppress: suppressCandidates,
    });
  });
}

interface DetectorParts {
  readonly input: PictureInput;
  readonly labels: readonly string[] | undefined;
  readonly read: Candidates.CandidateReader;
  readonly suppress: typeof Candidates.suppressCandidates;
}

/** Finds things in pictures. */
export class ObjectDetector extends Task {
  /** How pictures are prepared for the model: by the options, its input and its files. */
  readonly pictures: PictureOptions;
  readonly #parts: DetectorParts;

  /** @internal */
  constructor(session: Session, parts: DetectorParts) {
    super([session]);
    this.pictures = parts.input.options;
    this.#parts = parts;
  }

  /**
   * The things in a picture, the surest first, in pixels of the picture. Rejects with UsageError for one without pixels, and where labels have to
   * tell what the outputs mean; with ShapeError for numbers that are no likelihoods.
   */
  async detect(picture: Picture, options: DetectOptions = {}): Promise<DetectedObject[]> {
    checkOptions<DetectOptions>('detect', options, {
      threshold: SHARE,
      overlap: SHARE,
      topK: 'count',
      signal: 'signal',
    });
    const { threshold = 0.5, overlap = 0.5, topK = 100, signal } = options;
    const { input, labels, read, suppress } = this.#parts;
    const results = await runOnPicture(this.session, input, { picture, signal });
    const { candidates, classes } = read({ ...results, threshold }, labels);
    if (classes !== undefined) requireLabels(labels, classes);
    const found = suppress(candidates, overlap).slice(0, topK);
    return found.map((thing) => ({
      ...thing,
      label: labels?.[thing.index] ?? String(thing.index),
    }));
  }
}
