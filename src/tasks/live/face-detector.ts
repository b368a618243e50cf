import { checkOptions, oneOf } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { Point } from '../../core/pictures/rectangle.ts';
import type { Box } from '../results/boxes.ts';
import type { TaskSource } from '../task-model.ts';
import { MODELS_OPTIONS, SHARE } from '../task-options.ts';
import type { Detection } from './regions/detections.ts';
import { FACE_DETECTOR_FILES } from './face-landmarker.ts';
import { type LiveModelOptions, loadOne } from './live-models.ts';
import { type LiveResult, LiveTask } from './live-task.ts';
import { FACE_DETECTORS, RegionDetector } from './regions/region-detector.ts';

/** How faces are looked for. */
export interface FaceDetectorOptions extends LiveModelOptions {
  /** The least score of a face, from 0 to 1. Default 0.5. */
  readonly leastDetection?: number | undefined;
  /** Which model of a folder is taken if it has both: for faces within some 2 m, or some 5 m, of the camera. Default `short`. */
  readonly range?: 'short' | 'full' | undefined;
}

/** A face that was found. */
export interface DetectedFace {
  /** In pixels of the picture. */
  readonly box: Box;
  /** From 0 to 1. */
  readonly score: number;
  /** Points of the face in pixels, [x, y]. The person's right eye is on the left in a picture that is not mirrored. */
  readonly points: Readonly<Record<FacePoint, Point>>;
}

/** The points of a face that a detector finds. */
type FacePoint = 'rightEye' | 'leftEye' | 'nose' | 'mouth' | 'rightEar' | 'leftEar';

/** The faces in a frame, those with the highest score first. */
export interface DetectedFacesResult extends LiveResult {
  readonly faces: readonly DetectedFace[];
}

/**
 * Loads a model that finds faces and six points of each: of a folder with MediaPipe's `face_detection_short_range` or
 * `face_detection_full_range`, as `.weft` or `.tflite`, or the address of such a file. Rejects as `Session.load` does, and with ShapeError
 * for another model.
 */
export async function faceDetector(
  source: TaskSource,
  options: FaceDetectorOptions = {},
): Promise<FaceDetector> {
  checkOptions<FaceDetectorOptions>('faceDetector', options, {
    leastDetection: SHARE,
    range: oneOf('short', 'full'),
    ...MODELS_OPTIONS,
  });
  const { leastDetection = 0.5, range = 'short', ...place } = options;
  const names = range === 'short' ? FACE_DETECTOR_FILES : FACE_DETECTOR_FILES.toReversed();
  return loadOne(
    source,
    { ...place, names },
    (session) => new FaceDetector(session, leastDetection),
  );
}

/** Finds faces in pictures and videos. */
export class FaceDetector extends LiveTask<DetectedFacesResult> {
  /** @internal */
  constructor(session: Session, leastDetection: number) {
    const detector = new RegionDetector(session, FACE_DETECTORS, leastDetection);
    super([session], () => async (picture, { timeMs, signal }) => {
      const { detections, size } = await detector.detect(picture, { signal });
      return { faces: detections.map(toFace), ...size, timestamp: timeMs };
    });
  }
}

function toFace({ box, score, points }: Detection): DetectedFace {
  const [rightEye, leftEye, nose, mouth, rightEar, leftEar] = points;
  const none: Point = [NaN, NaN];
  return {
    box,
    score,
    points: {
      rightEye: rightEye ?? none,
      leftEye: leftEye ?? none,
      nose: nose ?? none,
      mouth: mouth ?? none,
      rightEar: rightEar ?? none,
      leftEar: leftEar ?? none,
    },
  };
}
