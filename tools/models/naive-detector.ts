import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { convolution, maxPool, plus, relu, sigmoid } from './naive-layers.ts';
import { NaiveTensor, tabulate } from './naive-tensor.ts';

export interface Detector {
  readonly weights: Readonly<Record<string, HostTensor>>;
  /** Height and width [n, 2] of all anchors, and their centers. */
  readonly centers: HostTensor;
  readonly sizes: HostTensor;
  readonly classes: number;
  /** Boxes kept of each class, the overlap that they may have, and the least score. */
  readonly kept: number;
  readonly overlap: number;
  readonly score: number;
}

interface Detections {
  /** [found, 4]: top, left, bottom, right. */
  readonly boxes: NaiveTensor;
  readonly scores: NaiveTensor;
  readonly labels: NaiveTensor;
}

type Box = readonly [top: number, left: number, bottom: number, right: number];

interface Candidate {
  readonly label: number;
  readonly score: number;
  readonly box: Box;
}

/** Nothing may hang on the last bits: a device in single precision has to choose the same boxes. */
const MARGIN = 1e-5;

/** The detector of detector.ts from its definition, for an image [height, width, 3] in bytes. */
export function naiveDetector(detector: Detector, image: NaiveTensor): Detections {
  const maps = backbone(detector, image);
  const scores = maps.flatMap(([name, map]) => rowsOf(detector, `${name}.scores`, map));
  const deltas = maps.flatMap(([name, map]) => rowsOf(detector, `${name}.deltas`, map));
  const found: Candidate[] = [];
  for (let label = 0; label < detector.classes; label++) {
    const candidates = deltas.map((delta, place): Candidate => {
      const score = sigmoid(scores[place]?.[label] ?? 0);
      return { label, score, box: boxOf(detector, delta, place) };
    });
    found.push(...suppress(candidates, detector));
  }
  return {
    boxes: tabulate([found.length, 4], (i = 0, side = 0) => found[i]?.box[side] ?? 0),
    scores: tabulate([found.length], (i = 0) => found[i]?.score ?? 0),
    labels: tabulate([found.length], (i = 0) => found[i]?.label ?? 0),
  };
}

function weightOf({ weights }: Detector, name: string): NaiveTensor {
  const found = weights[name];
  if (found === undefined) throw new Error(`internal: no weight ${name}`);
  return NaiveTensor.of(found);
}

function backbone(
  detector: Detector,
  image: NaiveTensor,
): readonly (readonly [string, NaiveTensor])[] {
  const [height = 0, width = 0] = image.shape;
  const layer = (name: string, x: NaiveTensor, options = {}): NaiveTensor =>
    convolution(
      x,
      [weightOf(detector, `${name}.weight`), weightOf(detector, `${name}.bias`)],
      options,
    );
  const pixels = tabulate(
    [3, height, width],
    (c = 0, y = 0, x = 0) => (image.at(y, x, c) - 127.5) / 64,
  );
  const stem = relu(layer('stem', pixels, { stride: 2 }));
  const deep = relu(layer('depthwise', stem, { groups: 8 }));
  const pooled = maxPool(relu(layer('pointwise', deep)), 2);
  const curved = batchNorm(detector, layer('inner', pooled)).map(
    (x) => x * Math.min(Math.max(x / 6 + 0.5, 0), 1),
  );
  const residual = plus(pooled, curved);
  const coarse = relu(layer('down', residual, { stride: 2 }));
  const lateral = layer('lateral', residual);
  const fine = tabulate(
    lateral.shape,
    (c = 0, y = 0, x = 0) =>
      lateral.at(c, y, x) + coarse.at(c, Math.floor(y / 2), Math.floor(x / 2)),
  );
  return [
    ['fine', fine],
    ['coarse', coarse],
  ];
}

function batchNorm(detector: Detector, x: NaiveTensor): NaiveTensor {
  const part = (name: string): NaiveTensor => weightOf(detector, `norm.${name}`);
  const [scale, bias, mean, variance] = [
    part('scale'),
    part('bias'),
    part('mean'),
    part('variance'),
  ];
  return tabulate(x.shape, (c = 0, row = 0, column = 0) => {
    const normal = (x.at(c, row, column) - mean.at(c)) / Math.sqrt(variance.at(c) + 1e-3);
    return normal * scale.at(c) + bias.at(c);
  });
}

/** Outputs of a head for each anchor: cell by cell, and in a cell anchor by anchor. */
function rowsOf(detector: Detector, name: string, x: NaiveTensor): number[][] {
  const map = convolution(x, [
    weightOf(detector, `${name}.weight`),
    weightOf(detector, `${name}.bias`),
  ]);
  const [channels = 0, height = 0, width = 0] = map.shape;
  const columns = name.endsWith('scores') ? detector.classes : 4;
  const rows: number[][] = [];
  for (let cell = 0; cell < height * width; cell++) {
    for (let first = 0; first < channels; first += columns) {
      rows.push(
        Array.from({ length: columns }, (_, i) =>
          map.at(first + i, Math.floor(cell / width), cell % width),
        ),
      );
    }
  }
  return rows;
}

function boxOf({ centers, sizes }: Detector, delta: readonly number[], place: number): Box {
  const along = (axis: 0 | 1): readonly [number, number] => {
    const size = Number(sizes.data[2 * place + axis]);
    const center = Number(centers.data[2 * place + axis]) + 0.1 * (delta[axis] ?? 0) * size;
    const half = 0.5 * size * Math.exp(0.2 * (delta[2 + axis] ?? 0));
    return [center - half, center + half];
  };
  const [[top, bottom], [left, right]] = [along(0), along(1)];
  return [top, left, bottom, right];
}

/** The best first; each drops those that overlap it. */
function suppress(candidates: readonly Candidate[], detector: Detector): Candidate[] {
  const { kept, overlap, score } = detector;
  for (const candidate of candidates) checkMargin(candidate.score, score, 'a score');
  const pending = candidates
    .filter((candidate) => candidate.score > score)
    .sort((a, b) => b.score - a.score);
  for (const [i, { score }] of pending.entries()) {
    const next = pending[i + 1];
    if (next !== undefined) checkMargin(score, next.score, 'two scores');
  }
  const chosen: Candidate[] = [];
  for (const candidate of pending) {
    if (chosen.length === kept) break;
    const shares = chosen.map(({ box }) => overlapOf(box, candidate.box));
    for (const share of shares) checkMargin(share, overlap, 'an overlap');
    if (shares.every((share) => share <= overlap)) chosen.push(candidate);
  }
  return chosen;
}

/** The share that two boxes have in common of what they cover together. */
function overlapOf(a: Box, b: Box): number {
  const height = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
  const width = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  const common = Math.max(height, 0) * Math.max(width, 0);
  const area = ([top, left, bottom, right]: Box): number => (bottom - top) * (right - left);
  return common / (area(a) + area(b) - common);
}

function checkMargin(a: number, b: number, things: string): void {
  if (Math.abs(a - b) < MARGIN) {
    throw new Error(`${things} of the detector are ${a} and ${b}: choose another seed.`);
  }
}
