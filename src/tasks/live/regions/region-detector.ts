import type { Session } from '../../../client/session.ts';
import { internalError } from '../../../core/errors.ts';
import type { Point } from '../../../core/pictures/rectangle.ts';
import type { Size } from '../../pictures/picture-options.ts';
import type { Picture } from '../../pictures/pixels.ts';
import type { CallOptions } from '../../task-options.ts';
import {
  type AnchorGrid,
  anchorsOf,
  decodeDetections,
  type Detection,
  mergeDetections,
  placedDetection,
} from './detections.ts';
import { fitted, wholeRegion } from './geometry.ts';
import { otherOutputs, RegionModel, type SeenAs } from './region-model.ts';

/** A detector that a task knows: its grid says what outputs it has. */
interface KnownDetector {
  readonly grid: AnchorGrid;
  /** Points with each box. */
  readonly points: number;
  readonly range: SeenAs['range'];
}

/** Those of faces near the camera, and of faces farther away. */
export const FACE_DETECTORS: readonly KnownDetector[] = [
  {
    grid: {
      side: 128,
      layers: [
        [8, 2],
        [16, 6],
      ],
    },
    points: 6,
    range: [-1, 1],
  },
  { grid: { side: 192, layers: [[4, 1]] }, points: 6, range: [-1, 1] },
];
export const PALM_DETECTORS: readonly KnownDetector[] = [
  {
    grid: {
      side: 192,
      layers: [
        [8, 2],
        [16, 6],
      ],
    },
    points: 7,
    range: [0, 1],
  },
];
export const POSE_DETECTORS: readonly KnownDetector[] = [
  {
    grid: {
      side: 224,
      layers: [
        [8, 2],
        [16, 2],
        [32, 6],
      ],
    },
    points: 4,
    range: [-1, 1],
  },
];

/** Boxes that overlap by more are of one thing. */
const SAME = 0.3;

/** Finds faces, palms or bodies in a picture. */
export class RegionDetector {
  readonly model: RegionModel;
  readonly #known: KnownDetector;
  readonly #threshold: number;
  readonly #anchors: readonly Point[];
  readonly #outputs: readonly [boxes: number, logits: number];

  /** Throws ShapeError for a model that is none of those that are known. */
  constructor(session: Session, all: readonly KnownDetector[], threshold: number) {
    const [first] = all;
    if (first === undefined) throw internalError('no known detectors');
    const model = new RegionModel(session, { range: first.range, isBlackOutside: true });
    const { counts, input } = model;
    for (const known of all) {
      const anchors = anchorsOf(known.grid);
      const isSide = input.size.width === known.grid.side && input.size.height === known.grid.side;
      const boxes = counts.indexOf(anchors.length * (4 + 2 * known.points));
      const logits = counts.indexOf(anchors.length);
      if (!isSide || boxes < 0 || logits < 0) continue;
      this.model = model;
      this.#known = known;
      this.#threshold = threshold;
      this.#anchors = anchors;
      this.#outputs = [boxes, logits];
      return;
    }
    throw otherOutputs(session, all.map(describeKnown).join('; or '));
  }

  /** Things in a picture, in pixels of it, those with the highest score first. */
  async detect(
    picture: Picture,
    { signal }: CallOptions,
  ): Promise<{ readonly detections: readonly Detection[]; readonly size: Size }> {
    const { input } = this.model;
    const letterbox = (size: Size) => [fitted(wholeRegion(size), input.size)];
    const { results, size } = await this.model.run(picture, letterbox, { signal });
    const [boxes, logits] = this.#outputs;
    const detections = results.flatMap(({ region, outputs }) => {
      const found = decodeDetections(
        { boxes: outputs[boxes] ?? [], logits: outputs[logits] ?? [] },
        { anchors: this.#anchors, side: this.#known.grid.side, threshold: this.#threshold },
      );
      return mergeDetections(found, SAME).map((one) => placedDetection(one, region));
    });
    return { detections, size };
  }
}

function describeKnown({ grid, points }: KnownDetector): string {
  const { length } = anchorsOf(grid);
  return `pictures of ${grid.side} x ${grid.side}, boxes [1, ${length}, ${4 + 2 * points}] and scores [1, ${length}, 1]`;
}
