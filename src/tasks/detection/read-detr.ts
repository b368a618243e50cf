import { activate } from '../results/labels.ts';
import { type ClassScore, likeliestThing } from '../results/likeliest.ts';
import {
  boxIn,
  type Candidate,
  type Candidates,
  cornersAround,
  type DetectorOutputs,
  matrixOf,
} from './output-matrix.ts';

/**
 * Reads results as `post_process_object_detection` of transformers does: of each query the
 * likeliest class, unless that is nothing.
 */
export function readDetr(results: DetectorOutputs): Candidates {
  const { candidates, columns } = readQueries(results, (logits) => likeliestThing(logits) ?? []);
  return { candidates, classes: columns - 1 };
}

/** Reads results as that function of RT-DETR does: every class of every query for itself. */
export function readRtDetr(results: DetectorOutputs): Candidates {
  const { candidates, columns } = readQueries(results, (logits) =>
    Array.from(activate(logits, 'sigmoid'), (score, index) => ({ index, score })),
  );
  return { candidates, classes: columns };
}

type ClassesOf = (logits: Float32Array | Float64Array) => ClassScore | readonly ClassScore[];

function readQueries({ outputs, place, threshold }: DetectorOutputs, classesOf: ClassesOf) {
  const { numbers, rows, columns } = matrixOf(outputs['logits'], 'logits');
  const { numbers: boxes } = matrixOf(outputs['pred_boxes'], 'pred_boxes', 4);
  const { width, height } = place.size;
  const candidates: Candidate[] = [];
  for (let row = 0; row < rows; row++) {
    const found = [classesOf(numbers.subarray(row * columns, (row + 1) * columns))].flat();
    for (const { index, score } of found) {
      if (score <= threshold) continue;
      const [x = 0, y = 0, w = 0, h = 0] = boxes.subarray(row * 4, row * 4 + 4);
      const corners = cornersAround(x * width, y * height, w * width, h * height);
      candidates.push({ index, score, box: boxIn(place, corners) });
    }
  }
  return { candidates, columns };
}
