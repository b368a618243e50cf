import { checkOptions } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { Detection } from './regions/detections.ts';
import { FACE_PARTS, refinedFace } from './points/face-parts.ts';
import { angleAlong, boundsOf, expanded, type Region, regionOfBox } from './regions/geometry.ts';
import { headPose } from './points/head-pose.ts';
import { flat, type Landmark, projected, sigmoid } from './points/landmarks.ts';
import {
  LANDMARK_OPTIONS,
  type LandmarkOptions,
  type LiveSource,
  loadBoth,
} from './live-models.ts';
import type { LiveResult } from './live-task.ts';
import { FACE_DETECTORS, RegionDetector } from './regions/region-detector.ts';
import { otherOutputs, RegionModel } from './regions/region-model.ts';
import { LandmarkFilter } from './points/smooth-landmarks.ts';
import { type Tracked, type TrackerParts, TrackingTask } from './tracker.ts';

/** How faces are looked for. */
export interface FaceLandmarkerOptions extends LandmarkOptions {
  /** Takes the model of a folder that finds irises too, and lips and eyes better, if there is one. Default true. */
  readonly irises?: boolean | undefined;
}

/** A face in a picture. */
export interface Face {
  /** 468 points in pixels of the picture, and ten of the irises (468 to 477) where the model has them. */
  readonly landmarks: readonly Landmark[];
  /**
   * Where the head is and looks: a matrix of 4 x 4, column by column as `DOMMatrix` and WebGL take it, from the face's coordinates to
   * pixels of the picture. In a face x goes to the right of the picture when it looks at the camera, y up and z out of it; the
   * outer corners of the eyes are 1 apart, the origin lies between them.
   */
  readonly pose: readonly number[];
  /** How sure it is that this is a face, from 0 to 1. */
  readonly presence: number;
}

/** The faces in a frame. */
export interface FacesResult extends LiveResult {
  readonly faces: readonly Face[];
}

/** Points of a face without irises, and with them. */
const MESH = 468;
const REFINED = 478;

/**
 * Loads models that find faces and their landmarks: of a folder with MediaPipe's `face_detection_short_range` and `face_landmark_with_attention`
 * (478 points) or `face_landmark` (468), as `.weft` or `.tflite`, or each by itself. Looks for one face; `smoothing` is off.
 * Rejects as `Session.load` does, and with ShapeError for other models.
 */
export async function faceLandmarker(
  source: LiveSource,
  options: FaceLandmarkerOptions = {},
): Promise<FaceLandmarker> {
  checkOptions<FaceLandmarkerOptions>('faceLandmarker', options, {
    irises: 'boolean',
    ...LANDMARK_OPTIONS,
  });
  const { irises = true, count, leastDetection, leastPresence, smoothing, ...place } = options;
  const refined = ['face_landmark_with_attention', 'face_landmarks_detector'];
  const names = {
    detector: FACE_DETECTOR_FILES,
    landmarks: irises ? [...refined, 'face_landmark'] : ['face_landmark', ...refined],
  };
  const parts = { count, leastDetection, leastPresence, smoothing };
  return loadBoth(source, { ...place, names }, (detector, landmarks) => {
    return new FaceLandmarker([detector, landmarks], parts);
  });
}

/** Detectors of faces by the names of their files, those for faces near the camera first. */
export const FACE_DETECTOR_FILES = [
  'face_detection_short_range',
  'face_detector',
  'face_detection_full_range_sparse',
  'face_detection_full_range',
];

/** Finds faces in pictures and videos. */
export class FaceLandmarker extends TrackingTask<Face, FacesResult> {
  /** @internal */
  constructor(sessions: readonly [Session, Session], options: LandmarkOptions) {
    super(sessions, partsOf(sessions, options), (faces, frame) => ({ faces, ...frame }));
  }
}

function partsOf(
  [detector, landmarks]: readonly [Session, Session],
  { count = 1, leastDetection = 0.5, leastPresence = 0.5, smoothing }: LandmarkOptions,
): TrackerParts<Face> {
  const model = new RegionModel(landmarks, { range: [0, 1], isBlackOutside: false });
  const { counts } = model;
  const mesh = counts.findIndex((length) => length === MESH * 3 || length === REFINED * 3);
  const flag = counts.indexOf(1);
  const parts = FACE_PARTS.map((_, i) => mesh + 1 + i);
  const isRefined = FACE_PARTS.every(
    ({ numbers }, i) => counts[mesh + 1 + i] === numbers.length * 2,
  );
  if (mesh < 0 || flag < 0) {
    throw otherOutputs(
      landmarks,
      'points [1, 1, 1, 1404] or [1, 1, 1, 1434], presence [1, 1, 1, 1]',
    );
  }
  const side = model.input.size.width;
  return {
    detector: new RegionDetector(detector, FACE_DETECTORS, leastDetection),
    model,
    count,
    regionOf: faceRegion,
    read: (outputs, region) => {
      const presence = sigmoid(outputs[flag]?.[0] ?? -Infinity);
      if (presence < leastPresence) return undefined;
      const read = (index: number, step: number): Landmark[] =>
        projected(outputs[index] ?? [], region, { step, side });
      const points = read(mesh, 3);
      const all = isRefined
        ? refinedFace(
            points,
            parts.map((index) => read(index, 2)),
          )
        : points;
      return tracked(all, presence);
    },
    smoother: smoothing ? smoother : undefined,
  };
}

/** The first two points of a detection are the eyes. */
function faceRegion({ box, points }: Detection): Region {
  const [left = [0, 0], right = [0, 0]] = points;
  return expanded(regionOfBox(box, angleAlong(left, right, 'right')), 1.5);
}

function tracked(landmarks: readonly Landmark[], presence: number): Tracked<Face> {
  const points = landmarks.map(flat);
  const [left = [0, 0], right = [0, 0]] = [points[33], points[263]];
  const next = expanded(regionOfBox(boundsOf(points), angleAlong(left, right, 'right')), 1.5);
  return { found: { landmarks, pose: headPose(landmarks), presence }, next };
}

function smoother() {
  const filter = new LandmarkFilter();
  return ({ found, next }: Tracked<Face>, timeMs: number): Tracked<Face> => {
    const landmarks = filter.smooth(found.landmarks, { timeMs, scale: next.width / 1.5 });
    return { found: { ...found, landmarks, pose: headPose(landmarks) }, next };
  };
}
