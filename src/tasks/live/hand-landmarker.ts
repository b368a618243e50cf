import { checkOptions, oneOf } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { Detection } from './regions/detections.ts';
import {
  angleAlong,
  expanded,
  type Region,
  regionOfBox,
  turnedBounds,
} from './regions/geometry.ts';
import {
  flat,
  type Landmark,
  projected,
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
import { PALM_DETECTORS, RegionDetector } from './regions/region-detector.ts';
import { otherOutputs, type ReadOutput, RegionModel } from './regions/region-model.ts';
import { LandmarkFilter } from './points/smooth-landmarks.ts';
import { type Tracked, type TrackerParts, TrackingTask } from './tracker.ts';

/** How hands are looked for. */
export interface HandLandmarkerOptions extends LandmarkOptions {
  /** Which models of a folder are taken if it has several. Default `full`. */
  readonly model?: 'lite' | 'full' | undefined;
}

/** A hand in a picture. */
export interface Hand {
  /**
   * 21 points in pixels of the picture: the wrist, then four each of thumb, index, middle, ring and little finger, from the palm to
   * the tip.
   */
  readonly landmarks: readonly Landmark[];
  /** The same points in space, in metres from the middle of the hand on. */
  readonly world: readonly WorldPoint[];
  /** Which hand of the person it is, in a picture that is not mirrored. */
  readonly handedness: 'left' | 'right';
  /** How sure that is, from 0.5 to 1. */
  readonly handednessScore: number;
  /** How sure it is that this is a hand, from 0 to 1. */
  readonly presence: number;
}

/** The hands in a frame. */
export interface HandsResult extends LiveResult {
  readonly hands: readonly Hand[];
}

/** Points of a hand, and of a palm with them. */
const POINTS = 21;
/** Depths of the model are by so much smaller than widths. */
const DEPTH = 0.4;

/**
 * Loads models that find hands and their 21 landmarks: of a folder with MediaPipe's `palm_detection_full` and `hand_landmark_full` (or `_lite`),
 * as `.weft` or `.tflite`, or each by itself. Looks for two hands; `smoothing` is off. Rejects as `Session.load` does, and with
 * ShapeError for other models.
 */
export async function handLandmarker(
  source: LiveSource,
  options: HandLandmarkerOptions = {},
): Promise<HandLandmarker> {
  checkOptions<HandLandmarkerOptions>('handLandmarker', options, {
    model: oneOf('lite', 'full'),
    ...LANDMARK_OPTIONS,
  });
  const { model = 'full', count = 2, leastDetection, leastPresence, smoothing, ...place } = options;
  const other = model === 'full' ? 'lite' : 'full';
  const names = {
    detector: [`palm_detection_${model}`, `palm_detection_${other}`, 'hand_detector'],
    landmarks: [`hand_landmark_${model}`, 'hand_landmarks_detector', `hand_landmark_${other}`],
  };
  const parts = { count, leastDetection, leastPresence, smoothing };
  return loadBoth(source, { ...place, names }, (detector, landmarks) => {
    return new HandLandmarker([detector, landmarks], parts);
  });
}

/** Finds hands in pictures and videos. */
export class HandLandmarker extends TrackingTask<Hand, HandsResult> {
  /** @internal */
  constructor(sessions: readonly [Session, Session], options: LandmarkOptions) {
    super(sessions, partsOf(sessions, options), (hands, frame) => ({ hands, ...frame }));
  }
}

function partsOf(
  [palms, hands]: readonly [Session, Session],
  { count = 2, leastDetection = 0.5, leastPresence = 0.5, smoothing }: LandmarkOptions,
): TrackerParts<Hand> {
  const detector = new RegionDetector(palms, PALM_DETECTORS, leastDetection);
  const model = new RegionModel(hands, { range: [0, 1], isBlackOutside: false });
  const { counts } = model;
  const isKnown = counts.join() === [POINTS * 3, 1, 1, POINTS * 3].join();
  if (!isKnown) {
    throw otherOutputs(hands, 'points [1, 63], presence [1, 1], handedness [1, 1], world [1, 63]');
  }
  const side = model.input.size.width;
  return {
    detector,
    model,
    count,
    regionOf: palmRegion,
    read: ([points = [], presence, right, world = []]: readonly ReadOutput[], region) => {
      const sure = presence?.[0] ?? 0;
      if (sure < leastPresence) return undefined;
      const share = right?.[0] ?? 0;
      const landmarks = projected(points, region, { step: 3, side, depth: DEPTH });
      return tracked({
        landmarks,
        world: worldPoints(world, region),
        handedness: share >= 0.5 ? 'right' : 'left',
        handednessScore: Math.max(share, 1 - share),
        presence: sure,
      });
    },
    smoother: smoothing ? smoother : undefined,
  };
}

/** From the wrist to the middle finger goes up. */
function palmRegion({ box, points }: Detection): Region {
  const [wrist = [0, 0], , middle = [0, 0]] = points;
  return expanded(regionOfBox(box, angleAlong(wrist, middle, 'up')), 2.6, -0.5);
}

/** From the wrist to the mean of three points goes up, as where the models were trained. */
function tracked(found: Hand): Tracked<Hand> {
  const points = found.landmarks.map(flat);
  const at = (number: number) => points[number] ?? ([0, 0] as const);
  const [a, b, c] = [at(4), at(6), at(8)];
  const mean = [0, 1].map((k) => ((a[k] ?? 0) + (c[k] ?? 0)) / 4 + (b[k] ?? 0) / 2);
  const angle = angleAlong(at(0), [mean[0] ?? 0, mean[1] ?? 0], 'up');
  return { found, next: expanded(turnedBounds(points, angle), 2, -0.1) };
}

function smoother() {
  const filter = new LandmarkFilter();
  return ({ found, next }: Tracked<Hand>, timeMs: number): Tracked<Hand> => {
    const landmarks = filter.smooth(found.landmarks, { timeMs, scale: next.width / 2 });
    return { found: { ...found, landmarks }, next };
  };
}
