import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { dtypeInfo } from '../../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../../../core/contracts/primitive-function.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { SymbolicDims } from '../../../../core/dims/symbolic-dims.ts';
import { numberElements } from '../../../../ops/elements.ts';
import type { ImportNode } from '../../import-node.ts';
import { cast, number } from '../elementwise/elementwise.ts';

/** Floats that models have for ratios of sizes are among these. */
const MAX_DENOMINATOR = 4096;

/**
 * `floor(size * scale)` for a float32 scale, of a symbol too. The product is one of float32: 7/3 of 3
 * is 7, though the nearest float32 to 7/3 is a little less.
 */
function scaledSize(dims: SymbolicDims, size: Dim, scale: number): Dim {
  if (typeof size === 'number') return Math.floor(Math.fround(size * scale));
  const [numerator, denominator] = rationalOf(scale);
  return dims.floordiv(dims.mul(size, numerator), denominator);
}

/** The fraction of small numbers that is nearest to a float32 number, or else the number exactly. */
function rationalOf(scale: number): readonly [number, number] {
  for (let denominator = 1; denominator <= MAX_DENOMINATOR; denominator++) {
    const numerator = Math.round(scale * denominator);
    if (Math.fround(numerator / denominator) === scale) return [numerator, denominator];
  }
  let [numerator, denominator] = [scale, 1];
  while (!Number.isInteger(numerator)) [numerator, denominator] = [numerator * 2, denominator * 2];
  return [numerator, denominator];
}

/** The new size of an axis, and the scale by which its elements are found. */
interface AxisPlan {
  readonly axis: number;
  readonly from: Dim;
  readonly to: Dim;
  /** The scale where it is a number that the model gives. */
  readonly scale?: number;
  /** Attributes and operands of `resize_table` about the scale and the part that is taken. */
  readonly attributes: Attributes;
  readonly given: Expr | undefined;
  readonly roi: Expr | undefined;
}

interface ResizeMode {
  /** `nearest`, `linear` or `cubic`. */
  readonly mode: string;
  readonly rounding: string;
  readonly coordinates: string;
  readonly antialias: boolean;
  readonly exclude_outside: boolean;
  readonly cubic_coeff_a: number;
  readonly extrapolation: number;
}

const LEGACY: ResizeMode = {
  mode: 'nearest',
  rounding: 'floor',
  coordinates: 'asymmetric',
  antialias: false,
  exclude_outside: false,
  cubic_coeff_a: -0.75,
  extrapolation: 0,
};

/** Resize of all versions. The tenth is an Upsample that also makes smaller. */
export function importResize(node: ImportNode): Expr {
  if (node.opset < 11) return importUpsample(node);
  const { attributes } = node;
  // It has no effect on scales.
  attributes.ignore('keep_aspect_ratio_policy');
  const how: ResizeMode = {
    mode: attributes.string('mode', 'nearest'),
    rounding: attributes.string('nearest_mode', 'round_prefer_floor'),
    coordinates: attributes.string('coordinate_transformation_mode', 'half_pixel'),
    antialias: attributes.bool('antialias'),
    exclude_outside: attributes.bool('exclude_outside'),
    cubic_coeff_a: attributes.float('cubic_coeff_a', -0.75),
    extrapolation: attributes.float('extrapolation_value', 0),
  };
  const shape = node.shape(node.input(0));
  const axes = attributes
    .ints('axes')
    ?.map((axis) => normalizeAxis(axis, shape.length, node.where));
  const list = axes ?? [...shape.keys()];
  const plans = isGiven(node, 3) ? plansBySizes(node, list) : plansByScales(node, list, 2);
  const isCropped = how.coordinates === 'tf_crop_and_resize';
  return resize(
    node,
    isCropped ? plans.map((plan, i) => cropped(node, plan, [i, list.length])) : plans,
    how,
  );
}

export function importUpsample(node: ImportNode): Expr {
  const { attributes } = node;
  const mode = attributes.string('mode', 'nearest').replace('bilinear', 'linear');
  const axes = [...node.shape(node.input(0)).keys()];
  if (node.opset >= 9) return resize(node, plansByScales(node, axes, 1), { ...LEGACY, mode });
  const scales = attributes.floats('scales') ?? [
    1,
    1,
    attributes.float('height_scale', 1),
    attributes.float('width_scale', 1),
  ];
  return resize(node, plansOfScales(node, axes, scales), { ...LEGACY, mode });
}

/** Returns true if an input is given; an empty tensor stands for none. */
function isGiven(node: ImportNode, index: number): boolean {
  const input = node.inputs[index];
  return input !== undefined && node.shape(input)[0] !== 0;
}

function plansBySizes(node: ImportNode, axes: readonly number[]): AxisPlan[] {
  const { dims } = node;
  const shape = node.shape(node.input(0));
  const sizes = node.dimsInput(3, 'sizes') ?? [];
  if (sizes.length !== axes.length) {
    throw node.malformed(`${sizes.length} sizes`, `${axes.length}`);
  }
  const pairs = axes.map((axis, i) => ({ axis, from: shape[axis] ?? 1, to: sizes[i] ?? 1 }));
  const policy = node.attributes.string('keep_aspect_ratio_policy', 'stretch');
  const none = { given: undefined, roi: undefined };
  if (policy === 'stretch') return pairs.map((pair) => ({ ...pair, ...none, attributes: {} }));
  const isLargest = policy === 'not_smaller';
  const pick = (left: Dim, right: Dim) =>
    isLargest ? dims.max(left, right) : dims.min(left, right);
  const ratios = pairs.flatMap(({ from, to }) => [to, from]);
  return pairs.map(({ axis, from }) => {
    // Halves round up, for each of the ratios; then the least (largest) of the sizes.
    const rounded = pairs.map((of) =>
      dims.floordiv(dims.add(dims.mul(dims.mul(from, of.to), 2), of.from), dims.mul(of.from, 2)),
    );
    const to = rounded.reduce(pick);
    return { axis, from, to, ...none, attributes: { ratios, largest: isLargest } };
  });
}

function plansByScales(node: ImportNode, axes: readonly number[], index: number): AxisPlan[] {
  if (!node.isComputed(index)) {
    const scales = node.constantInput(index, 'scales');
    return plansOfScales(node, axes, Array.from(scales?.data ?? [], Number));
  }
  const scales = cast(node, node.input(index), 'float32');
  const shape = node.shape(node.input(0));
  const from = axes.map((axis) => shape[axis] ?? 1);
  const sizes = cast(node, node.call('dims_tensor', [], { dims: from }), 'float32');
  const product = node.call('floor', [node.call('mul', [scales, sizes])]);
  const read = node.readSizes('sizes', cast(node, product, 'int64'), { what: 'sizes' });
  return axes.map((axis, i) => ({
    axis,
    from: from[i] ?? 1,
    to: read[i] ?? 1,
    attributes: {},
    given: node.call('gather', [scales, node.int64s([i])], { axis: 0 }),
    roi: undefined,
  }));
}

function plansOfScales(
  node: ImportNode,
  axes: readonly number[],
  scales: readonly number[],
): AxisPlan[] {
  if (scales.length !== axes.length || scales.some((scale) => !(scale > 0))) {
    throw node.malformed(`scales [${scales.join(', ')}]`, `${axes.length} above 0`);
  }
  const shape = node.shape(node.input(0));
  return axes.map((axis, i) => {
    const [from, scale] = [shape[axis] ?? 1, Math.fround(scales[i] ?? 1)];
    const to = scaledSize(node.dims, from, scale);
    return { axis, from, to, scale, attributes: { scale }, given: undefined, roi: undefined };
  });
}

/** The plan with its part of the input `roi`: all begins, then all ends. */
function cropped(
  node: ImportNode,
  plan: AxisPlan,
  [i, count]: readonly [number, number],
): AxisPlan {
  if (!isGiven(node, 1)) return plan;
  if (node.isComputed(1)) {
    const roi = cast(node, node.input(1), 'float32');
    return { ...plan, roi: node.call('gather', [roi, node.int64s([i, i + count])], { axis: 0 }) };
  }
  const given = node.constantInput(1, 'regions');
  const roi = given === undefined ? [] : Array.from(numberElements(given));
  if (roi.length !== 2 * count) throw node.malformed(`${roi.length} bounds`, `${2 * count}`);
  return { ...plan, attributes: { ...plan.attributes, roi: [roi[i] ?? 0, roi[i + count] ?? 1] } };
}

function resize(node: ImportNode, plans: readonly AxisPlan[], how: ResizeMode): Expr {
  const x = node.input(0);
  const changed = plans.filter((plan) => isChanged(node, plan, how));
  if (how.mode === 'nearest') return nearest(node, changed, how);
  const { dtype } = node.type(x);
  const computed = dtype === 'float64' ? dtype : 'float32';
  // Axes that become shorter first: less is left for the others.
  const ordered = changed.toSorted((left, right) => growth(left) - growth(right));
  const result = ordered.reduce(
    (data, plan) => {
      const taps = tapsOf(node, plan, how);
      return node.call('resample', [data, table(node, plan, { ...how, taps: [taps] })], {
        axis: plan.axis,
      });
    },
    cast(node, x, computed),
  );
  const isRounded = how.antialias && dtypeInfo(dtype).category !== 'float';
  return cast(node, isRounded ? node.call('round', [result]) : result, dtype);
}

function isChanged(node: ImportNode, plan: AxisPlan, how: ResizeMode): boolean {
  // Both modes of this name move elements of an axis that keeps its size.
  if (how.coordinates.startsWith('tf_') || plan.given !== undefined) return true;
  if (plan.attributes['ratios'] !== undefined) return true;
  return plan.scale === undefined ? node.dims.sub(plan.to, plan.from) !== 0 : plan.scale !== 1;
}

function growth({ from, to, scale }: AxisPlan): number {
  if (scale !== undefined) return scale;
  return typeof from === 'number' && typeof to === 'number' ? to / Math.max(from, 1) : 1;
}

function table(node: ImportNode, plan: AxisPlan, attributes: Attributes): Expr {
  const { given, roi, from, to } = plan;
  // An operand cannot be left out before another; a scale of 0 says nothing.
  const unsaid = () => node.constant(HostTensor.from('float32', [1], [0]));
  const scale = given ?? (roi === undefined ? [] : unsaid());
  const operands = [scale, roi ?? []].flat();
  return node.call('resize_table', operands, {
    sizes: [from, to],
    ...plan.attributes,
    ...attributes,
  });
}

/** At most how many elements have weights: those within reach, and no more than there are. */
function tapsOf({ dims }: ImportNode, { from, to }: AxisPlan, how: ResizeMode): Dim {
  const reach = how.mode === 'cubic' ? 2 : 1;
  // A size that is rounded up from half an element more means a scale that much smaller.
  const shrunk = dims.sub(dims.mul(dims.max(to, 1), 2), 1);
  const wide = dims.add(dims.floordiv(dims.mul(from, 4 * reach), shrunk), 2);
  const taps = how.antialias ? dims.max(wide, 2 * reach) : 2 * reach;
  return dims.max(dims.min(taps, from), 1);
}

/** Indices move elements of any type; whole multiples need none. */
function nearest(node: ImportNode, plans: readonly AxisPlan[], how: ResizeMode): Expr {
  const x = node.input(0);
  const factors = plans.map((plan) => repeatCount(node, plan, how));
  if (factors.every((factor) => factor !== undefined)) return repeat(node, plans, factors);
  const { mode, coordinates, rounding } = how;
  const isLegacy = node.opset < 11;
  return plans.reduce((data, plan) => {
    const isSmaller = isLegacy && (plan.scale ?? 1) < 1;
    const indices = table(node, plan, {
      mode,
      coordinates,
      rounding: isSmaller ? 'ceil' : rounding,
    });
    const gathered = node.call('gather', [data, indices], { axis: plan.axis });
    if (coordinates !== 'tf_crop_and_resize') return gathered;
    const shape = node.shape(x).map((_, axis) => (axis === plan.axis ? plan.to : 1));
    const isOutside = node.call('less', [node.reshape(indices, shape), node.scalar(0, 'int32')]);
    return node.call('where', [isOutside, number(node, x, how.extrapolation), gathered]);
  }, x);
}

/** How often each element stands in the result, where that is a number. */
function repeatCount(node: ImportNode, plan: AxisPlan, how: ResizeMode): number | undefined {
  const isHalfPixel = how.coordinates.endsWith('half_pixel') && how.rounding.startsWith('round');
  const isPlain = how.coordinates === 'asymmetric' && how.rounding === 'floor';
  if (!(isHalfPixel || isPlain) || plan.given !== undefined) return undefined;
  if (plan.attributes['ratios'] !== undefined) return undefined;
  if (plan.scale !== undefined) {
    const [numerator, denominator] = rationalOf(plan.scale);
    return denominator === 1 ? numerator : undefined;
  }
  const { dims } = node;
  return REPEATS.find((count) => dims.sub(plan.to, dims.mul(plan.from, count)) === 0);
}

const REPEATS = [1, 2, 3, 4, 5, 6, 7, 8, 16, 32];

function repeat(node: ImportNode, plans: readonly AxisPlan[], factors: readonly number[]): Expr {
  const x = node.input(0);
  const repeats = node.shape(x).map(() => 1);
  for (const [i, { axis }] of plans.entries()) repeats[axis] = factors[i] ?? 1;
  return repeats.every((count) => count === 1) ? x : node.call('repeat', [x], { repeats });
}
