/**
 * The layout of a detector's outputs, for one picture.
 *
 * - `detr`: `logits` (queries, classes and one for nothing) and `pred_boxes` (queries, 4) with
 *   middle, width and height as shares.
 * - `rt-detr`: the same with logits of classes alone, each for itself: RT-DETR, D-FINE, Deformable
 *   DETR.
 * - `yolo`: one output (4 + classes, places) as YOLO v8 and later have it, in pixels of the model's
 *   picture; or (places, 4 + classes).
 * - `yolo-v5`: (places, 5 + classes), with how sure it is of anything behind the box.
 * - `yolo-pose`: (4 + classes + 3 * points, places): key points with how sure it is of each.
 *   Without labels there is one class.
 * - `yolo-obb`: (4 + classes + 1, places): turned boxes, the angle last, in radians.
 * - `yolox`: (places, 5 + classes) of one anchor, as cells and logarithms or in pixels of the
 *   model's picture.
 * - `yolo-v10`: (places, 6) without overlaps: left, top, right, bottom, how sure, the class.
 * - `corners`: `scores` (places, classes with nothing first) and `boxes` (places, 4) with left,
 *   top, right and bottom as shares or in pixels of the model's picture, as detectors of faces have
 *   them.
 * - `suppressed`: without overlaps, `boxes` (things, 4), `scores` and `labels` (things) as
 *   torchvision exports them, or `detection_boxes`, `detection_scores` and
 *   `detection_classes` as TensorFlow does.
 *
 * A second output (coefficients, rows, columns) of `yolo`, `yolo-v5` and `yolo-v10` is prototypes
 * of masks, whose coefficients then end each place.
 */
export type DetectorShape = (typeof DETECTOR_SHAPES)[number];

export const DETECTOR_SHAPES = [
  'detr',
  'rt-detr',
  'yolo',
  'yolo-pose',
  'yolo-obb',
  'yolo-v5',
  'yolox',
  'yolo-v10',
  'corners',
  'suppressed',
] as const;
