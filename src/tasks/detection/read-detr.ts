import { activate } from '../results/labels.ts';
import {
  best,
  boxIn,
  type Candidate,
  type Candidates,
  cornersAround,
  type DetectorOutputs,
  matrixOf,
} from './output-matrix.ts';

/** As `post_process_object_detection` of transformers has it: of each query the likeliest class, unless that is nothing. */
export function readDetr({ outputs, place, threshold }: DetectorOutputs): Candidates {
  const { numbers, rows, columns } = matrixOf(outputs['logits'], 'logits');
  const boxes = boxesOf({ outputs, place, threshold });
  const candidates: Candidate[] = [];
  for (let row = 0; row < rows; row++) {
    const scores = activate(numbers.subarray(row * columns, (row + 1) * columns), 'softmax');
    const { index, score } = best(scores);
    // The last class is nothing.
    if (index === columns - 1 || score <= threshold) continue;
    candidates.push({ index, score, box: boxes(row) });
  }
  return { candidates, classes: columns - 1 };
}

/** As that function of RT-DETR: every class of every query for itself. */
export function readRtDetr({ outputs, place, threshold }: DetectorOutputs): Candidates {
  const { numbers, rows, columns } = matrixOf(outputs['logits'], 'logits');
  const boxes = boxesOf({ outputs, place, threshold });
  const candidates: Candidate[] = [];
  for (let row = 0; row < rows; row++) {
    const scores = activate(numbers.subarray(row * columns, (row + 1) * columns), 'sigmoid');
    for (const [index, score] of scores.entries()) {
      if (score > threshold) candidates.push({ index, score, box: boxes(row) });
    }
  }
  return { candidates, classes: columns };
}

function boxesOf({ outputs, place }: DetectorOutputs) {
  const { numbers } = matrixOf(outputs['pred_boxes'], 'pred_boxes', 4);
  const { width, height } = place.size;
  return (row: number) => {
    const [x = 0, y = 0, w = 0, h = 0] = numbers.subarray(row * 4, row * 4 + 4);
    return boxIn(place, cornersAround(x * width, y * height, w * width, h * height));
  };
}
