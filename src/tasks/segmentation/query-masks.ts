import type { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import type { PicturePlace } from '../pictures/picture-place.ts';
import { activate, requireLabels } from '../results/labels.ts';
import { type ClassScore, likeliestThing } from '../results/likeliest.ts';
import { numbersOf } from '../results/numbers.ts';
import { type AxisSamples, cornerWeights } from './axis-samples.ts';
import { NO_CLASS, Segment, Segmentation } from './segmentation.ts';
import { samplesOf } from './whole-pictures.ts';

/** Outputs of a model by queries: the class and the mask of each. */
interface QueryOutputs {
  /** (1, queries, classes and nothing), before softmax. */
  readonly classes: Tensor;
  /** (1, queries, rows, columns), before sigmoid. */
  readonly masks: Tensor;
}

/** The outputs of DETR's panoptic head, MaskFormer and Mask2Former, or undefined for those of other models. */
export function queryOutputs(outputs: Readonly<Record<string, Tensor>>): QueryOutputs | undefined {
  const classes = outputs['class_queries_logits'] ?? outputs['logits'];
  const masks = outputs['masks_queries_logits'] ?? outputs['pred_masks'];
  return classes && masks && { classes, masks };
}

interface SegmentRules {
  readonly place: PicturePlace;
  readonly labels: readonly string[] | undefined;
  /** Queries that are less sure of their class are left out. */
  readonly threshold: number;
  /** So are those of which others leave less than this part. */
  readonly leastShare: number;
}

/** From this likelihood on a pixel counts as one of a query, whichever gets it in the end. */
const MASK_THRESHOLD = 0.5;

interface Query extends ClassScore {
  /** Likelihoods over the model's picture. */
  readonly mask: Float32Array;
}

/**
 * As `post_process_panoptic_segmentation` of @huggingface/transformers has it: a pixel goes to the query that is the surest of it, and
 * a query that keeps too little of its own is left out. Throws ShapeError for other dimensions, and UsageError for other labels.
 */
export function segmentByQueries(
  { classes, masks }: QueryOutputs,
  { place, labels, threshold, leastShare }: SegmentRules,
): Segmentation {
  const [, , height = 0, width = 0] = masks.shape;
  const queryCount = checkedQueries(classes, masks);
  const scores = numbersOf(classes);
  const columns = scores.length / Math.max(queryCount, 1);
  requireLabels(labels, columns - 1);
  const places = numbersOf(masks);
  const queries: Query[] = [];
  for (let query = 0; query < queryCount; query++) {
    const thing = likeliestThing(scores.subarray(query * columns, (query + 1) * columns));
    if (thing === undefined || thing.score <= threshold) continue;
    const own = places.subarray(query * width * height, (query + 1) * width * height);
    queries.push({ ...thing, mask: Float32Array.from(activate(own, 'sigmoid')) });
  }
  const samples = samplesOf(place, { width, height });
  const { owners, kept, wanted } = sharedOut(queries, { ...samples, width });
  const segments: Segment[] = [];
  const classOf = new Uint16Array(2 ** 16).fill(NO_CLASS);
  for (const [owner, { index, score }] of queries.entries()) {
    const [count, alone] = [kept[owner] ?? 0, wanted[owner] ?? 0];
    if (count === 0 || alone === 0 || count / alone <= leastShare) continue;
    const label = labels?.[index];
    segments.push(new Segment({ size: place.source, owners, owner, count, index, label, score }));
    classOf[owner] = index;
  }
  // Pixels of queries that were left out are of no class.
  return new Segmentation(
    place.source,
    owners.map((owner) => classOf[owner] ?? NO_CLASS),
    segments,
  );
}

function checkedQueries(classes: Tensor, masks: Tensor): number {
  const [batch, count = 0] = masks.shape;
  const isGood =
    classes.shape.length === 3 &&
    masks.shape.length === 4 &&
    batch === 1 &&
    classes.shape[0] === 1 &&
    classes.shape[1] === count;
  if (isGood) return count;
  throw new ShapeError({
    where: 'the result of the model',
    got: `classes [${classes.shape.join(', ')}] and masks [${masks.shape.join(', ')}]`,
    expected: '[1, queries, classes and nothing] and [1, queries, rows, columns]',
  });
}

interface MaskGrid {
  readonly columns: AxisSamples;
  readonly rows: AxisSamples;
  readonly width: number;
}

/** The query that is the surest of each pixel, how many each has, and how many it would have alone. In float32, as masks are. */
function sharedOut(queries: readonly Query[], { columns, rows, width }: MaskGrid) {
  const owners = new Uint16Array(columns.shares.length * rows.shares.length).fill(NO_CLASS);
  const kept = new Uint32Array(queries.length);
  const wanted = new Uint32Array(queries.length);
  let pixel = 0;
  for (const [y, down] of rows.shares.entries()) {
    const [top, bottom] = [(rows.before[y] ?? 0) * width, (rows.after[y] ?? 0) * width];
    for (const [x, across] of columns.shares.entries()) {
      const [left, right] = [columns.before[x] ?? 0, columns.after[x] ?? 0];
      let most = 0;
      const [first, second, third, fourth] = cornerWeights(across, down);
      // The first one has what nobody is sure of at all.
      let owner = queries.length > 0 ? 0 : NO_CLASS;
      for (const [query, { mask, score }] of queries.entries()) {
        const likelihood = Math.fround(
          first * (mask[top + left] ?? 0) +
            second * (mask[top + right] ?? 0) +
            third * (mask[bottom + left] ?? 0) +
            fourth * (mask[bottom + right] ?? 0),
        );
        const sure = Math.fround(likelihood * score);
        if (sure >= MASK_THRESHOLD) wanted[query] = (wanted[query] ?? 0) + 1;
        if (sure <= most) continue;
        most = sure;
        owner = query;
      }
      owners[pixel++] = owner;
      if (owner !== NO_CLASS) kept[owner] = (kept[owner] ?? 0) + 1;
    }
  }
  return { owners, kept, wanted };
}
