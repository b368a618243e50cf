import type { Session } from '../../client/session.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import { overlap, suppress } from '../results/boxes.ts';
import type { DetectorShape } from './detector-shape.ts';
import {
  type Candidate,
  type Candidates,
  type DetectorOutputs,
  matrixOf,
} from './output-matrix.ts';
import { polygonOverlap } from './polygon-overlap.ts';
import { readDetr, readRtDetr } from './read-detr.ts';
import { readCorners, readSuppressed } from './read-suppressed.ts';
import { readYolo } from './read-yolo.ts';

/** Reads the outputs of one model. */
export type CandidateReader = (
  results: DetectorOutputs,
  labels: readonly string[] | undefined,
) => Candidates;

const yolo =
  (shape: Extract<DetectorShape, `yolo${string}`>): CandidateReader =>
  (results, labels) =>
    readYolo(results, labels, shape);

const READERS: Readonly<Record<DetectorShape, CandidateReader>> = {
  detr: readDetr,
  'rt-detr': readRtDetr,
  yolo: yolo('yolo'),
  'yolo-pose': yolo('yolo-pose'),
  'yolo-obb': yolo('yolo-obb'),
  'yolo-v5': yolo('yolo-v5'),
  yolox: yolo('yolox'),
  'yolo-v10': yolo('yolo-v10'),
  corners: readCorners,
  suppressed: readSuppressed,
};

/**
 * Reads as a page says, or as names, sizes and the number of labels tell. Throws ShapeError for outputs of another kind; so does the reader for
 * other dimensions.
 */
export function candidateReader(
  session: Session,
  shape: DetectorShape | undefined,
): CandidateReader {
  if (shape !== undefined) return READERS[shape];
  const family = familyOf(session);
  if (family === 'yolo') return (results, labels) => readYolo(results, labels);
  return family === 'detr' ? readEitherDetr : READERS[family];
}

/** Without a class for nothing there are as many numbers as names. Throws UsageError where there are no names. */
const readEitherDetr: CandidateReader = (results, labels) => {
  const { rows, columns } = matrixOf(results.outputs['logits'], 'logits');
  if (labels?.length === columns) return readRtDetr(results);
  if (labels !== undefined) return readDetr(results);
  throw new UsageError({
    where: 'the result of the model',
    got: `logits [1, ${rows}, ${columns}], which is DETR with ${columns - 1} classes and nothing or RT-DETR with ${columns} classes`,
    expected: 'labels, id2label in config.json or the option shape',
    remedy: 'Give shape: detr or shape: rt-detr.',
  });
};

/**
 * Keeps the surest of the things of one class that overlap by more than `threshold`: turned boxes
 * by their own corners.
 */
export function suppressCandidates(
  candidates: readonly Candidate[],
  threshold: number,
): readonly Candidate[] {
  return suppress(candidates, threshold, (a, b) =>
    a.corners && b.corners ? polygonOverlap(a.corners, b.corners) : overlap(a.box, b.box),
  );
}

/**
 * A kind of outputs that names and ranks tell. The kinds of DETR and of YOLO differ in sizes, which
 * only a run tells.
 */
type DetectorFamily = 'detr' | 'yolo' | 'corners' | 'suppressed';

/** Throws ShapeError for outputs of another kind. */
function familyOf(session: Session): DetectorFamily {
  const { outputs } = session;
  const has = (...names: readonly string[]): boolean =>
    names.every((name) => outputs.some((output) => output.name === name));
  if (has('logits', 'pred_boxes')) return 'detr';
  if (has('detection_boxes', 'detection_scores', 'detection_classes')) return 'suppressed';
  if (has('scores', 'labels') && (has('boxes') || has('bboxes'))) return 'suppressed';
  if (has('scores', 'boxes')) return 'corners';
  const ranks = outputs.map(({ shape }) => shape.length).toSorted((a, b) => a - b);
  if (ranks.join() === '3' || ranks.join() === '3,4') return 'yolo';
  const got = outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`);
  throw new ShapeError({
    where: 'the model',
    got: `outputs ${got.join(', ')}`,
    expected:
      'logits and pred_boxes, scores and boxes, perhaps labels, or one of 3 dimensions, perhaps with prototypes of 4',
    remedy: 'Run the model with loadTaskModel and preparePictures, and read its outputs yourself.',
  });
}
