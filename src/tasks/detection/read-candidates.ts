import type { Session } from '../../client/session.ts';
import { UsageError } from '../../core/errors.ts';
import { overlap, suppress } from '../results/boxes.ts';
import { familyOf } from './detector-family.ts';
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
