import type { Session } from '../../client/session.ts';
import { ShapeError } from '../../core/errors.ts';

/**
 * A kind of outputs that names and ranks tell. The kinds of DETR and of YOLO differ in sizes, which
 * only a run tells.
 */
export type DetectorFamily = 'detr' | 'yolo' | 'corners' | 'suppressed';

/** Throws ShapeError for outputs of another kind. */
export function familyOf(session: Session): DetectorFamily {
  const { outputs } = session;
  const has = (...names: readonly string[]): boolean =>
    names.every((name) => outputs.some((output) => output.name === name));
  if (has('logits', 'pred_boxes')) return 'detr';
  if (has('detection_boxes', 'detection_scores', 'detection_classes')) return 'suppressed';
  if (has('scores', 'labels') && (has('boxes') || has('bboxes'))) return 'suppressed';
  if (has('scores', 'boxes')) return 'corners';
  const ranks = outputs.map(({ shape }) => shape.length).toSorted((a, b) => a - b);
  if (ranks.join() === '3' || ranks.join() === '3,4') return 'yolo';
  const got = outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`);
  throw new ShapeError({
    where: 'the model',
    got: `outputs ${got.join(', ')}`,
    expected:
      'logits and pred_boxes, scores and boxes, perhaps labels, or one of 3 dimensions, perhaps with prototypes of 4',
    remedy: 'Run the model with loadTaskModel and preparePictures, and read its outputs yourself.',
  });
}
