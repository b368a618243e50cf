import type { Session } from '../../client/session.ts';
import { familyOf } from './detector-family.ts';
import type { DetectorShape } from './detector-shape.ts';
import { type Candidates, type DetectorOutputs, matrixOf } from './output-matrix.ts';
import { readDetr, readRtDetr } from './read-detr.ts';
import { readCorners, readSuppressed } from './read-suppressed.ts';
import { readYolo } from './read-yolo.ts';

type Reader = (results: DetectorOutputs) => Candidates;

const READERS: Readonly<Record<DetectorShape, Reader>> = {
  detr: readDetr,
  'rt-detr': readRtDetr,
  yolo: (results) => readYolo(results, 'yolo'),
  'yolo-v5': (results) => readYolo(results, 'yolo-v5'),
  'yolo-v10': (results) => readYolo(results, 'yolo-v10'),
  corners: readCorners,
  suppressed: readSuppressed,
};

/** What reads the outputs of one model. */
export type CandidateReader = (
  results: DetectorOutputs,
  labels: readonly string[] | undefined,
) => Candidates;

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
  if (family === 'yolo') return (results) => readYolo(results);
  return family === 'detr' ? readEitherDetr : READERS[family];
}

/** Without a class for nothing there are as many numbers as names. */
const readEitherDetr: CandidateReader = (results, labels) => {
  const { columns } = matrixOf(results.outputs['logits'], 'logits');
  return labels?.length === columns ? readRtDetr(results) : readDetr(results);
};
