import { checkOptions } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import { type PictureInput, pictureInputOf } from '../pictures/model-pictures.ts';
import type { PictureOptions } from '../pictures/picture-options.ts';
import type { Picture } from '../pictures/pixels.ts';
import { runOnPicture } from '../picture-task.ts';
import { requireLabels } from '../results/labels.ts';
import { outputOf } from '../results/numbers.ts';
import { Task } from '../task.ts';
import { labelsOf, loadTask, type TaskSource } from '../task-model.ts';
import { type CallOptions, SHARE, TASK_OPTIONS, type TaskOptions } from '../task-options.ts';
import { classifyPixels, classScores } from './class-scores.ts';
import { type Segmentation, segmentsOfClasses } from './segmentation.ts';
import { samplesOf, wholePictures } from './whole-pictures.ts';

/** How a model that divides pictures by classes is loaded. */
export interface ImageSegmenterOptions extends TaskOptions {
  /** Names of the classes, in order. Default: `id2label` of `config.json`, else numbers. */
  readonly labels?: readonly string[] | undefined;
  /** How pictures are prepared; takes precedence over the model's files. */
  readonly pictures?: PictureOptions | undefined;
}

/** How a picture is divided. */
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
