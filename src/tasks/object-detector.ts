import { checkOptions, COUNT, NAMES, OBJECT, oneOf, SIGNAL } from '../client/check-options.ts';
import type { Session } from '../client/session.ts';
import type { Tensor } from '../client/tensor.ts';
import { ShapeError } from '../core/errors.ts';
import { type PictureInput, pictureInputOf } from './pictures/model-pictures.ts';
import type { PictureOptions } from './pictures/picture-options.ts';
import type { Picture } from './pictures/pixels.ts';
import type { PicturePlace } from './pictures/picture-place.ts';
import { runOnPicture } from './picture-task.ts';
import { type Box, clipped, type ScoredBox, suppress } from './results/boxes.ts';
import { activate, requireLabels } from './results/labels.ts';
import { numbersOf } from './results/numbers.ts';
import { Task } from './task.ts';
import { labelsOf, loadTask, type TaskSource } from './task-model.ts';
import { type CallOptions, SHARE, TASK_OPTIONS, type TaskOptions } from './task-options.ts';

/**
 * What a detector's outputs mean, for each picture. `detr`: `logits` (queries, classes and one for nothing) and `pred_boxes` (queries, 4)
 * with middle, width and height as shares. `yolo`: one output (4 + classes, places) as YOLO v8 and later have it, in pixels of the
 * model's picture. `corners`: `scores` (places, classes with nothing first) and `boxes` (places, 4) with left, top, right
 * and bottom as shares, as detectors of faces have them.
 */
export type DetectorShape = 'detr' | 'yolo' | 'corners';

/** How a detector is loaded. */
export interface ObjectDetectorOptions extends TaskOptions {
  /** Names of the classes, in order. Default: `id2label` of `config.json`, else numbers. */
  readonly labels?: readonly string[] | undefined;
  /** What the model expects of pictures, before what its files say. */
  readonly pictures?: PictureOptions | undefined;
  /** What the outputs mean. Default: by their names and shapes. */
  readonly shape?: DetectorShape | undefined;
}

/** How things are looked for in one picture. */
export interface DetectOptions extends CallOptions {
  /** Things that are less sure are left out. Default 0.5. */
  readonly threshold?: number | undefined;
  /** Of things of one class that overlap by more than this, the surest stays. Default 0.5; 1 keeps all. */
  readonly overlap?: number | undefined;
  /** The most things that are given, the surest first. Default 100. */
  readonly topK?: number | undefined;
}

/** A thing in a picture. */
export interface DetectedObject extends ScoredBox {
  /** What it is: a name, or a number as text for a model without names. */
  readonly label: string;
}

/**
 * Loads a model that finds things in pictures. Rejects as `Session.load` does, and with ShapeError for a model whose outputs are
 * none of {@link DetectorShape}.
 */
export async function objectDetector(
  source: TaskSource,
  options: ObjectDetectorOptions = {},
): Promise<ObjectDetector> {
  const { labels, pictures, shape, ...place } = options;
  const { file, config, preprocessor, cache } = options;
  const own = { labels, pictures, shape, file, config, preprocessor, cache };
  checkOptions<typeof own>('objectDetector', own, {
    ...TASK_OPTIONS,
    labels: NAMES,
    pictures: OBJECT,
    shape: oneOf('detr', 'yolo', 'corners'),
  });
  return loadTask(async (load) => {
    const model = await load(source, place);
    return new ObjectDetector(model.session, {
      input: pictureInputOf(model.session, model.preprocessor, pictures),
      labels: labels ?? labelsOf(model.config),
      shape: shape ?? shapeOf(model.session),
    });
  });
}

interface DetectorParts {
  readonly input: PictureInput;
  readonly labels: readonly string[] | undefined;
  readonly shape: DetectorShape;
}

/** Finds things in pictures. */
export class ObjectDetector extends Task {
  /** What the model expects of pictures. */
  readonly pictures: PictureOptions;
  readonly #parts: DetectorParts;

  /** @internal */
  constructor(session: Session, parts: DetectorParts) {
    super([session]);
    this.pictures = parts.input.options;
    this.#parts = parts;
  }

  /** The things in a picture, the surest first, in pixels of the picture. Rejects with UsageError for one without pixels. */
  async detect(picture: Picture, options: DetectOptions = {}): Promise<DetectedObject[]> {
    checkOptions<DetectOptions>('detect', options, {
      threshold: SHARE,
      overlap: SHARE,
      topK: COUNT,
      signal: SIGNAL,
    });
    const { threshold = 0.5, overlap = 0.5, topK = 100, signal } = options;
    const { input, labels, shape } = this.#parts;
    const { outputs, place } = await runOnPicture(this.session, input, { picture, signal });
    const { candidates, classes } = READERS[shape](outputs, place, threshold);
    requireLabels(labels, classes);
    const found = suppress(candidates, overlap).slice(0, topK);
    return found.map((thing) => ({
      ...thing,
      label: labels?.[thing.index] ?? String(thing.index),
    }));
  }
}

type Outputs = Readonly<Record<string, Tensor>>;
interface Candidates {
  readonly candidates: readonly ScoredBox[];
  /** Classes that things may have. */
  readonly classes: number;
}
type Reader = (outputs: Outputs, place: PicturePlace, threshold: number) => Candidates;

function shapeOf(session: Session): DetectorShape {
  const names = new Set(session.outputs.map(({ name }) => name));
  if (names.has('logits') && names.has('pred_boxes')) return 'detr';
  if (names.has('scores') && names.has('boxes')) return 'corners';
  if (session.outputs.length === 1 && session.outputs[0]?.shape.length === 3) return 'yolo';
  const outputs = session.outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`);
  throw new ShapeError({
    where: 'the model',
    got: `outputs ${outputs.join(', ')}`,
    expected: 'logits and pred_boxes, scores and boxes, or one of 3 dimensions',
    remedy: 'Run the model with loadTaskModel and preparePictures, and read its outputs yourself.',
  });
}

/** A box of the model's picture in the picture itself. */
function boxIn(place: PicturePlace, corners: readonly [number, number, number, number]): Box {
  const [left, top] = place.toSource(corners[0], corners[1]);
  const [right, bottom] = place.toSource(corners[2], corners[3]);
  return clipped({ left, top, width: right - left, height: bottom - top }, place.source);
}

/** The dimensions and numbers of an output for one picture. Throws ShapeError for other dimensions. */
function matrix(outputs: Outputs, name: string, width?: number) {
  const tensor = outputs[name];
  const [batch, rows = 0, columns = 0] = tensor?.shape ?? [];
  const isMatrix = tensor?.shape.length === 3 && batch === 1;
  if (tensor === undefined || !isMatrix || (width !== undefined && columns !== width)) {
    throw new ShapeError({
      where: `output ${name}`,
      got: tensor === undefined ? 'none' : `[${tensor.shape.join(', ')}]`,
      expected: `[1, places, ${width ?? 'classes'}]`,
    });
  }
  return { numbers: numbersOf(tensor), rows, columns };
}

function best(scores: ArrayLike<number>): { readonly index: number; readonly score: number } {
  let index = 0;
  for (let i = 1; i < scores.length; i++) if ((scores[i] ?? 0) > (scores[index] ?? 0)) index = i;
  return { index, score: scores[index] ?? 0 };
}

/** As `post_process_object_detection` of transformers has it. */
const readDetr: Reader = (outputs, place, threshold) => {
  const { numbers, rows, columns } = matrix(outputs, 'logits');
  const { numbers: boxes } = matrix(outputs, 'pred_boxes', 4);
  const { width, height } = place.size;
  const candidates: ScoredBox[] = [];
  for (let row = 0; row < rows; row++) {
    const scores = activate(numbers.subarray(row * columns, (row + 1) * columns), 'softmax');
    const { index, score } = best(scores);
    // The last class is nothing.
    if (index === columns - 1 || score <= threshold) continue;
    const [x = 0, y = 0, w = 0, h = 0] = boxes.subarray(row * 4, row * 4 + 4);
    const corners = [
      (x - w / 2) * width,
      (y - h / 2) * height,
      (x + w / 2) * width,
      (y + h / 2) * height,
    ] as const;
    candidates.push({ index, score, box: boxIn(place, corners) });
  }
  return { candidates, classes: columns - 1 };
};

/** Numbers of one place lie `columns` apart. */
const readYolo: Reader = (outputs, place, threshold) => {
  const name = Object.keys(outputs)[0] ?? 'output0';
  const { numbers, rows, columns } = matrix(outputs, name);
  const candidates: ScoredBox[] = [];
  for (let column = 0; column < columns; column++) {
    const at = (row: number): number => numbers[row * columns + column] ?? 0;
    const { index, score } = best(Array.from({ length: rows - 4 }, (_, i) => at(4 + i)));
    if (score <= threshold) continue;
    const [x, y, w, h] = [at(0), at(1), at(2), at(3)];
    const corners = [x - w / 2, y - h / 2, x + w / 2, y + h / 2] as const;
    candidates.push({ index, score, box: boxIn(place, corners) });
  }
  return { candidates, classes: rows - 4 };
};

const readCorners: Reader = (outputs, place, threshold) => {
  const { numbers, rows, columns } = matrix(outputs, 'scores');
  const { numbers: boxes } = matrix(outputs, 'boxes', 4);
  const { width, height } = place.size;
  const candidates: ScoredBox[] = [];
  for (let row = 0; row < rows; row++) {
    // The first class is nothing.
    const { index, score } = best(numbers.subarray(row * columns + 1, (row + 1) * columns));
    if (score <= threshold) continue;
    const [left = 0, top = 0, right = 0, bottom = 0] = boxes.subarray(row * 4, row * 4 + 4);
    const corners = [left * width, top * height, right * width, bottom * height] as const;
    candidates.push({ index, score, box: boxIn(place, corners) });
  }
  return { candidates, classes: columns - 1 };
};

const READERS: Readonly<Record<DetectorShape, Reader>> = {
  detr: readDetr,
  yolo: readYolo,
  corners: readCorners,
};
