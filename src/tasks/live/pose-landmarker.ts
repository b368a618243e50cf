import { checkOptions, oneOf } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { Point } from '../../core/pictures/rectangle.ts';
import type { Size } from '../pictures/picture-options.ts';
import type { Mask } from '../segmentation/segmentation.ts';
import type { Detection } from './regions/detections.ts';
import { expanded, pointIn, type Region, squareAround } from './regions/geometry.ts';
import {
  flat,
  type Landmark,
  projected,
  sigmoid,
  worldPoints,
  type WorldPoint,
} from './points/landmarks.ts';
import {
  LANDMARK_OPTIONS,
  type LandmarkOptions,
  type LiveSource,
  loadBoth,
} from './live-models.ts';
import type { LiveResult } from './live-task.ts';
import { OneEuroFilter } from './points/one-euro.ts';
import { refineByHeatmap } from './points/pose-points.ts';
import { POSE_DETECTORS, RegionDetector } from './regions/region-detector.ts';
import { pictureMask } from './regions/region-mask.ts';
import { otherOutputs, type ReadOutput, RegionModel } from './regions/region-model.ts';
import { LandmarkFilter } from './points/smooth-landmarks.ts';
import { type Tracked, type TrackerParts, TrackingTask } from './tracker.ts';

/** How bodies are looked for. */
export interface PoseLandmarkerOptions extends LandmarkOptions {
  /** Which model of a folder is taken if it has several. Default `full`. */
  readonly model?: 'lite' | 'full' | 'heavy' | undefined;
  /** Gives masks too. Default false: they are not read from the device. */
  readonly masks?: boolean | undefined;
}

/** A point of a body. */
export interface PoseLandmark extends Landmark {
  /** How likely it is seen and not hidden, from 0 to 1. */
  readonly visibility: number;
  /** How likely it is within the picture, from 0 to 1. */
  readonly presence: number;
}

/** A body in a picture. */
export interface Pose {
  /** 33 points in pixels of the picture: 0 nose, 11 and 12 shoulders, 15 and 16 wrists, 23 and 24 hips, 27 and 28 ankles, the left of each two first. */
  readonly landmarks: readonly PoseLandmark[];
  /** The same points in space, in metres from the middle of the hips on. */
  readonly world: readonly WorldPoint[];
  /** How sure it is that this is a body, from 0 to 1. */
  readonly presence: number;
  /** Makes a mask of the picture's size: 255 for its pixels, 0 for others. Only with the option `masks`. */
  readonly mask?: (() => Mask) | undefined;
}

/** The bodies in a frame. */
export interface PosesResult extends LiveResult {
  readonly poses: readonly Pose[];
}

/** Points of a body; behind them are its middle and a point above that says how large it is, and four that nobody needs. */
const POINTS = 33;
const ALL_POINTS = 39;
/** Place, visibility and presence. */
const STEP = 5;
/** The square around a body is so much larger than what the points say. */
const MARGIN = 1.25;

/**
 * Loads models that find bodies and their 33 landmarks: of a folder with MediaPipe's `pose_detection` and `pose_landmark_full` (or `_lite`,
 * `_heavy`), as `.weft` or `.tflite`, or each by itself. Looks for one body; `smoothing` is on in videos. Rejects as
 * `Session.load` does, and with ShapeError for other models.
 */
export async function poseLandmarker(
  source: LiveSource,
  options: PoseLandmarkerOptions = {},
): Promise<PoseLandmarker> {
  checkOptions<PoseLandmarkerOptions>('poseLandmarker', options, {
    model: oneOf('lite', 'full', 'heavy'),
    masks: 'boolean',
    ...LANDMARK_OPTIONS,
  });
  const {
    model = 'full',
    masks,
    count,
    leastDetection,
    leastPresence,
    smoothing,
    ...place
  } = options;
  const sizes = [model, ...['full', 'lite', 'heavy'].filter((size) => size !== model)];
  const names = {
    detector: ['pose_detection', 'pose_detector'],
    landmarks: [...sizes.map((size) => `pose_landmark_${size}`), 'pose_landmarks_detector'],
  };
  const parts = { masks, count, leastDetection, leastPresence, smoothing };
  return loadBoth(source, { ...place, names }, (detector, landmarks) => {
    return new PoseLandmarker([detector, landmarks], parts);
  });
}

/** Finds bodies in pictures and videos. */
export class PoseLandmarker extends TrackingTask<FoundPose, PosesResult> {
  /** @internal */
  constructor(sessions: readonly [Session, Session], options: PoseLandmarkerOptions) {
    super(sessions, partsOf(sessions, options), (found, frame) => ({
      poses: found.map((one) => poseOf(one, frame)),
      ...frame,
    }));
  }
}

/** A body with the logits of its mask. */
interface FoundPose extends Omit<Pose, 'mask'> {
  readonly region: Region;
  readonly logits: ReadOutput;
}

function poseOf({ region, logits, ...pose }: FoundPose, size: Size): Pose {
  if (logits === undefined) return pose;
  const side = Math.sqrt(logits.length);
  const shares = (): Float32Array => Float32Array.from(logits, sigmoid);
  return {
    ...pose,
    mask: () => pictureMask({ shares: shares(), region, width: side, height: side }, size),
  };
}

function partsOf(
  [detector, landmarks]: readonly [Session, Session],
  {
    masks = false,
    count = 1,
    leastDetection = 0.5,
    leastPresence = 0.5,
    smoothing = true,
  }: PoseLandmarkerOptions,
): TrackerParts<FoundPose> {
  const model = new RegionModel(landmarks, { range: [0, 1], isBlackOutside: false });
  const { counts, input } = model;
  const side = input.size.width;
  const map = side / 4;
  const expected = [ALL_POINTS * STEP, 1, side * side, map * map * ALL_POINTS, ALL_POINTS * 3];
  if (counts.join() !== expected.join()) {
    throw otherOutputs(
      landmarks,
      `points [1, 195], presence [1, 1], mask [1, ${side}, ${side}, 1], maps [1, ${map}, ${map}, 39], world [1, 117]`,
    );
  }
  const mask = landmarks.outputs[2]?.name ?? '';
  return {
    detector: new RegionDetector(detector, POSE_DETECTORS, leastDetection),
    model,
    count,
    unread: masks ? [] : [mask],
    regionOf: bodyRegion,
    read: ([points = [], presence, logits, maps = [], world = []], region) => {
      const sure = presence?.[0] ?? 0;
      if (sure < leastPresence) return undefined;
      const numbers = refineByHeatmap(
        points,
        { step: STEP, side },
        { logits: maps, width: map, height: map },
      );
      const all = projected(numbers, region, { step: STEP, side });
      const found = {
        landmarks: all.slice(0, POINTS).map((point, i) => ({
          ...point,
          visibility: sigmoid(numbers[i * STEP + 3] ?? 0),
          presence: sigmoid(numbers[i * STEP + 4] ?? 0),
        })),
        world: worldPoints(world, region).slice(0, POINTS),
        presence: sure,
        region,
        logits,
      };
      return { found, next: bodyRegion({ points: all.slice(POINTS).map(flat) }) };
    },
    smoother: smoothing ? smoother : undefined,
  };
}

/** The first two points are the middle of the hips, and one above whose distance says how large the body is. */
function bodyRegion({ points }: Pick<Detection, 'points'>): Region {
  const [middle = [0, 0], above = [0, 0]] = points;
  return expanded(squareAround(middle, above), MARGIN);
}

/** Visibilities take so much of a new value. */
const VISIBLE_SHARE = 0.1;

function smoother() {
  const places = new LandmarkFilter();
  // Points in metres have their own scale; the region is smoothed more, so that it hardly moves around a body that stands still.
  const world = new LandmarkFilter({ cutoff: 0.1, speed: 40 });
  const region = new OneEuroFilter({ cutoff: 0.01, speed: 10 });
  let visible: readonly PoseLandmark[] = [];
  return ({ found, next }: Tracked<FoundPose>, timeMs: number): Tracked<FoundPose> => {
    const scale = next.width / MARGIN;
    const landmarks = places.smooth(found.landmarks, { timeMs, scale }).map((point, i) => {
      const { visibility = point.visibility, presence = point.presence } = visible[i] ?? {};
      return {
        ...point,
        visibility: visibility + VISIBLE_SHARE * (point.visibility - visibility),
        presence: presence + VISIBLE_SHARE * (point.presence - presence),
      };
    });
    visible = landmarks;
    const above = pointIn(next, 0.5, 0.5 - 0.5 / MARGIN);
    const [x = 0, y = 0, u = 0, v = 0] = region.smooth([...next.center, ...above], timeMs, scale);
    const points: readonly Point[] = [
      [x, y],
      [u, v],
    ];
    return {
      found: { ...found, landmarks, world: world.smooth(found.world, { timeMs, scale: 1 }) },
      next: bodyRegion({ points }),
    };
  };
}
