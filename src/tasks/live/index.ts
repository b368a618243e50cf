export { FACE_CONNECTIONS, HAND_CONNECTIONS, POSE_CONNECTIONS } from './points/connections.ts';
export {
  type DrawLandmarksOptions,
  drawLandmarks,
  normalizedLandmarks,
} from './points/draw-landmarks.ts';
export {
  type DetectedFace,
  FaceDetector,
  faceDetector,
  type FaceDetectorOptions,
} from './face-detector.ts';
export {
  type Face,
  FaceLandmarker,
  faceLandmarker,
  type FaceLandmarkerOptions,
} from './face-landmarker.ts';
export {
  type Hand,
  HandLandmarker,
  handLandmarker,
  type HandLandmarkerOptions,
} from './hand-landmarker.ts';
export type { Landmark, WorldPoint } from './points/landmarks.ts';
export type { LiveSource } from './live-models.ts';
export {
  type Pose,
  PoseLandmarker,
  poseLandmarker,
  type PoseLandmarkerOptions,
} from './pose-landmarker.ts';
export {
  SelfieSegmenter,
  selfieSegmenter,
  type SelfieSegmenterOptions,
} from './selfie-segmenter.ts';
