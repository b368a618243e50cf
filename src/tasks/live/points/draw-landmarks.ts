import { checkOptions, requireKind } from '../../../core/check-options.ts';
import { contextOf } from '../../pictures/draw-tensor.ts';
import type { Size } from '../../pictures/picture-options.ts';
import {
  type Connection,
  FACE_CONNECTIONS,
  HAND_CONNECTIONS,
  POSE_CONNECTIONS,
} from './connections.ts';
import type { DetectedFacesResult } from '../face-detector.ts';
import type { FacesResult } from '../face-landmarker.ts';
import type { HandsResult } from '../hand-landmarker.ts';
import type { Landmark } from './landmarks.ts';
import type { PosesResult } from '../pose-landmarker.ts';

/** How landmarks are drawn. */
export interface DrawLandmarksOptions {
  /** A colour of CSS. Default `#00e5a0`. */
  readonly color?: string | undefined;
  /** The width of lines in pixels of the canvas. Default: a 250th of its width. */
  readonly lineWidth?: number | undefined;
}

/** What has landmarks or points. */
export type DrawnResult = HandsResult | FacesResult | PosesResult | DetectedFacesResult;

/** Points of a body that are less likely seen are left out. */
const LEAST_VISIBILITY = 0.5;

/**
 * Draws landmarks and the lines between them, or boxes and points of faces, onto a canvas of two dimensions: over what is there, as large as
 * the canvas is. Throws UsageError for another result, and UnsupportedError for a canvas of another kind.
 */
export function drawLandmarks(
  canvas: HTMLCanvasElement | OffscreenCanvas,
  result: DrawnResult,
  options: DrawLandmarksOptions = {},
): void {
  checkOptions<DrawLandmarksOptions>('drawLandmarks', options, {
    color: 'text',
    lineWidth: 'positive',
  });
  const isResult = ['hands', 'faces', 'poses'].some((name) => name in Object(result));
  requireKind(
    'drawLandmarks',
    ['a result with hands, faces or poses', () => isResult],
    ['what is', result],
  );
  const { color = '#00e5a0', lineWidth = Math.max(canvas.width / 250, 1) } = options;
  const context = contextOf(canvas);
  context.save();
  context.scale(canvas.width / result.width, canvas.height / result.height);
  context.strokeStyle = color;
  context.fillStyle = color;
  // In pixels of the picture.
  const width = (lineWidth * result.width) / canvas.width;
  context.lineWidth = width;
  for (const { landmarks, connections, isDense } of drawnIn(result)) {
    strokeLines(context, landmarks, connections);
    if (!isDense) fillPoints(context, landmarks, width * 1.5);
  }
  if ('faces' in result) {
    for (const face of result.faces) {
      if ('landmarks' in face) continue;
      const { left, top, width: across, height } = face.box;
      context.strokeRect(left, top, across, height);
      const points = Object.values(face.points).map(([x, y]) => ({ x, y, z: 0 }));
      fillPoints(context, points, width * 1.5);
    }
  }
  context.restore();
}

interface Drawn {
  /** Undefined where one is not drawn. */
  readonly landmarks: readonly (Landmark | undefined)[];
  readonly connections: readonly Connection[];
  /** True if points are so many that lines alone are drawn. */
  readonly isDense?: boolean;
}

function drawnIn(result: DrawnResult): Drawn[] {
  if ('hands' in result) {
    return result.hands.map(({ landmarks }) => ({ landmarks, connections: HAND_CONNECTIONS }));
  }
  if ('poses' in result) {
    return result.poses.map(({ landmarks }) => ({
      landmarks: landmarks.map((one) => (one.visibility < LEAST_VISIBILITY ? undefined : one)),
      connections: POSE_CONNECTIONS,
    }));
  }
  return result.faces.flatMap((face) =>
    'landmarks' in face
      ? [{ landmarks: face.landmarks, connections: FACE_CONNECTIONS, isDense: true }]
      : [],
  );
}

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

function strokeLines(
  context: Context,
  landmarks: Drawn['landmarks'],
  connections: readonly Connection[],
): void {
  context.beginPath();
  for (const [from, to] of connections) {
    const [a, b] = [landmarks[from], landmarks[to]];
    if (a === undefined || b === undefined) continue;
    context.moveTo(a.x, a.y);
    context.lineTo(b.x, b.y);
  }
  context.stroke();
}

function fillPoints(context: Context, points: Drawn['landmarks'], radius: number): void {
  for (const point of points) {
    if (point === undefined) continue;
    context.beginPath();
    context.arc(point.x, point.y, radius, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Landmarks as shares of the width and height of their picture, depths as shares of its width. */
export function normalizedLandmarks(
  landmarks: readonly Landmark[],
  { width, height }: Size,
): Landmark[] {
  return landmarks.map(({ x, y, z }) => ({ x: x / width, y: y / height, z: z / width }));
}
