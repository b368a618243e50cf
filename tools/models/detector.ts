import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { type DataSet, ModelDraft, type OwnModel } from './model-draft.ts';
import { type Detector, naiveDetector } from './naive-detector.ts';
import { tabulate } from './naive-tensor.ts';

const SEED = 5;
const DATA_SETS = 3;

const SIZE = {
  image: 48,
  classes: 3,
  /** Boxes of each cell of a map. */
  anchors: 2,
  /** Cells along a side of the fine and of the coarse map. */
  cells: [12, 6],
  /** Boxes kept of each class, the overlap that they may have, and the least score. */
  kept: 6,
  overlap: 0.45,
  score: 0.65,
} as const;

const BOXES = SIZE.anchors * (SIZE.cells[0] ** 2 + SIZE.cells[1] ** 2);
const INPUT = [1, SIZE.image, SIZE.image, 3] as const;

/**
 * A detector in one shot over two maps: `image` [1, 48, 48, 3] in bytes to `boxes` [found, 4]
 * (top, left, bottom, right in shares of the image), `scores` and `labels` [found]. Its weights are
 * seeded, not trained.
 */
export function buildDetector(): OwnModel {
  const writer = new DetectorWriter();
  const onnx = writer.build();
  const random = seededRandom(SEED + 1);
  const sets = Array.from({ length: DATA_SETS }, () => dataSet(writer.weights, random));
  return { onnx, dataSets: sets };
}

interface ConvolutionSpec {
  /** [outputs, inputs / groups, kernel, kernel]. */
  readonly shape: readonly [number, number, number, number];
  readonly stride?: number;
  readonly groups?: number;
}

class DetectorWriter {
  readonly weights: Record<string, HostTensor> = {};
  readonly #draft = new ModelDraft(SEED);

  build(): Uint8Array {
    const draft = this.#draft;
    const [fine, coarse] = this.#backbone();
    const heads = [this.#head('fine', fine), this.#head('coarse', coarse)];
    const along = { axis: 1 };
    const scores = draft.node(
      'Concat',
      'all_scores',
      heads.map(([score]) => score),
      along,
    );
    const deltas = draft.node(
      'Concat',
      'all_deltas',
      heads.map(([, delta]) => delta),
      along,
    );
    const shares = draft.node('Sigmoid', 'shares', [scores]);
    const byClass = draft.node('Transpose', 'by_class', [shares], { perm: [0, 2, 1] });
    this.#select(this.#corners(deltas), byClass);
    return draft.toOnnx({
      inputs: [{ name: 'image', dtype: 'uint8', shape: INPUT }],
      outputs: [
        { name: 'boxes', shape: ['found', 4] },
        { name: 'scores', shape: ['found'] },
        { name: 'labels', dtype: 'int64', shape: ['found'] },
      ],
    });
  }

  /** Maps of 16 channels: the fine one has seen the coarse one. */
  #backbone(): readonly [string, string] {
    const draft = this.#draft;
    const floats = draft.node('Cast', 'floats', ['image'], { to: 1 });
    const planes = draft.node('Transpose', 'planes', [floats], { perm: [0, 3, 1, 2] });
    const centred = draft.node('Sub', 'centred', [planes, draft.float('mean', 127.5)]);
    const pixels = draft.node('Div', 'pixels', [centred, draft.float('deviation', 64)]);
    const relu = (x: string): string => draft.node('Relu', `${x}.relu`, [x]);
    const stem = relu(this.#convolution('stem', pixels, { shape: [8, 3, 3, 3], stride: 2 }));
    const deep = this.#convolution('depthwise', stem, { shape: [8, 1, 3, 3], groups: 8 });
    const wide = relu(this.#convolution('pointwise', relu(deep), { shape: [16, 8, 1, 1] }));
    const pooled = draft.node('MaxPool', 'pool', [wide], { kernel_shape: [2, 2], strides: [2, 2] });
    const inner = this.#batchNorm(this.#convolution('inner', pooled, { shape: [16, 16, 3, 3] }));
    const curved = draft.node('HardSwish', 'curved', [inner]);
    const residual = draft.node('Add', 'residual', [pooled, curved]);
    const down = this.#convolution('down', residual, { shape: [16, 16, 3, 3], stride: 2 });
    const coarse = relu(down);
    const large = draft.node(
      'Resize',
      'enlarged',
      [coarse, '', draft.constant('twice', HostTensor.from('float32', [4], [1, 1, 2, 2]))],
      { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' },
    );
    const lateral = this.#convolution('lateral', residual, { shape: [16, 16, 1, 1] });
    return [draft.node('Add', 'fine', [lateral, large]), coarse];
  }

  #convolution(
    name: string,
    x: string,
    { shape, stride = 1, groups = 1 }: ConvolutionSpec,
  ): string {
    const [outputs, inputs, kernel] = shape;
    const spread = Math.sqrt(3 / (inputs * kernel * kernel));
    this.#weight(`${name}.weight`, shape, { spread });
    this.#weight(`${name}.bias`, [outputs], { spread: 0.2 });
    const pad = (kernel - 1) / 2;
    return this.#draft.node('Conv', name, [x, `${name}.weight`, `${name}.bias`], {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
      group: groups,
    });
  }

  #batchNorm(x: string): string {
    this.#weight('norm.scale', [16], { center: 1, spread: 0.3 });
    this.#weight('norm.bias', [16], { spread: 0.3 });
    this.#weight('norm.mean', [16], { spread: 0.5 });
    this.#weight('norm.variance', [16], { center: 1, spread: 0.5 });
    const inputs = [x, 'norm.scale', 'norm.bias', 'norm.mean', 'norm.variance'];
    return this.#draft.node('BatchNormalization', 'norm', inputs, { epsilon: { float: 1e-3 } });
  }

  /** Scores [1, n, classes] and deltas [1, n, 4] of a map, cell by cell. */
  #head(name: string, x: string): readonly [string, string] {
    const draft = this.#draft;
    const rows = (part: string, columns: number): string => {
      const shape = [SIZE.anchors * columns, 16, 3, 3] as const;
      const map = this.#convolution(`${name}.${part}`, x, { shape });
      const last = draft.node('Transpose', `${map}.last`, [map], { perm: [0, 2, 3, 1] });
      const to = draft.ints(`${map}.shape`, [1, -1, columns]);
      return draft.node('Reshape', `${map}.rows`, [last, to]);
    };
    return [rows('scores', SIZE.classes), rows('deltas', 4)];
  }

  /** Boxes [1, n, 4] by their corners, from what the deltas move and scale the anchors by. */
  #corners(deltas: string): string {
    const draft = this.#draft;
    draft.constant('anchor_centers', anchorsOf('centers'));
    draft.constant('anchor_sizes', anchorsOf('sizes'));
    const [moves = '', scales = ''] = draft.split('delta', [deltas], { axis: -1, num_outputs: 2 });
    const shifts = draft.node('Mul', 'shifts', [
      draft.node('Mul', 'small_moves', [moves, draft.float('move', 0.1)]),
      'anchor_sizes',
    ]);
    const centers = draft.node('Add', 'centers', [shifts, 'anchor_centers']);
    const powers = draft.node('Mul', 'powers', [scales, draft.float('growth', 0.2)]);
    const sizes = draft.node('Mul', 'sizes', [
      draft.node('Exp', 'factors', [powers]),
      'anchor_sizes',
    ]);
    const halves = draft.node('Mul', 'halves', [sizes, draft.float('half', 0.5)]);
    const low = draft.node('Sub', 'low', [centers, halves]);
    const high = draft.node('Add', 'high', [centers, halves]);
    return draft.node('Concat', 'corners', [low, high], { axis: -1 });
  }

  /** The best boxes of each class that do not overlap. */
  #select(corners: string, scores: string): void {
    const draft = this.#draft;
    const selected = draft.node('NonMaxSuppression', 'selected', [
      corners,
      scores,
      draft.ints('kept', [SIZE.kept]),
      draft.constant('overlap', HostTensor.from('float32', [1], [SIZE.overlap])),
      draft.constant('least', HostTensor.from('float32', [1], [SIZE.score])),
    ]);
    const column = (name: string, at: number): string =>
      draft.node('Gather', name, [selected, draft.int(`${name}.column`, at)], { axis: 1 });
    const flat = draft.node('Squeeze', 'flat_corners', [corners, draft.ints('batch', [0])]);
    column('labels', 1);
    draft.node('Gather', 'boxes', [flat, column('places', 2)], { axis: 0 });
    draft.node('GatherND', 'scores', [scores, selected]);
  }

  #weight(
    name: string,
    shape: readonly number[],
    range: { readonly center?: number; readonly spread: number },
  ): void {
    this.weights[name] = this.#draft.weights(name, shape, range);
  }
}

/** Centers or sizes [n, 2] of the anchors, row by row of the fine map, then of the coarse one. */
function anchorsOf(what: 'centers' | 'sizes'): HostTensor {
  const values: number[] = [];
  for (const cells of SIZE.cells) {
    for (let cell = 0; cell < cells * cells; cell++) {
      for (let anchor = 0; anchor < SIZE.anchors; anchor++) {
        const center = [(Math.floor(cell / cells) + 0.5) / cells, ((cell % cells) + 0.5) / cells];
        // High ones, then wide ones.
        const size = anchor === 0 ? [3 / cells, 2 / cells] : [2 / cells, 3 / cells];
        values.push(...(what === 'centers' ? center : size));
      }
    }
  }
  return HostTensor.from('float32', [BOXES, 2], values);
}

function dataSet(weights: Readonly<Record<string, HostTensor>>, random: () => number): DataSet {
  const pixels = picture(random);
  const detector: Detector = {
    ...SIZE,
    weights,
    centers: anchorsOf('centers'),
    sizes: anchorsOf('sizes'),
  };
  const { boxes, scores, labels } = naiveDetector(detector, pixels);
  const image = HostTensor.from('uint8', INPUT, pixels.values);
  return {
    inputs: [image],
    outputs: [boxes.toTensor(), scores.toTensor(), labels.toTensor('int64')],
  };
}

/** Some rectangles of one colour each, in bytes. */
function picture(random: () => number): ReturnType<typeof tabulate> {
  const between = (low: number, high: number): number => low + Math.floor(random() * (high - low));
  const color = (): number[] => [between(0, 256), between(0, 256), between(0, 256)];
  const ground = color();
  const shapes = Array.from({ length: 5 }, () => {
    const [top, left] = [between(0, 36), between(0, 36)];
    return {
      top,
      left,
      bottom: top + between(6, 20),
      right: left + between(6, 20),
      color: color(),
    };
  });
  return tabulate([SIZE.image, SIZE.image, 3], (y = 0, x = 0, channel = 0) => {
    const on = shapes.findLast(
      ({ top, left, bottom, right }) => y >= top && y < bottom && x >= left && x < right,
    );
    return (on?.color ?? ground)[channel] ?? 0;
  });
}
