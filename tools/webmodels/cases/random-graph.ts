import { elementCount, sameShape } from '../../../src/core/tensor/shape.ts';
import { LITE_CASES } from './index.ts';
import {
  type Kind,
  LiteDraw,
  type LiteOperand,
  type LiteSpec,
  type Quantization,
} from './lite-case.ts';
import { liteModel, type LiteModelCase, type PlacedCase, resultName } from './lite-graph.ts';

const KINDS: readonly (readonly Kind[])[] = [
  ['float32', 'half', 'int32', 'bool'],
  ['float32', 'half'],
  ['int8'],
];

/** Operators whose results jump where an operand moves a little, or grow beyond all bounds in a chain. */
const LEFT_OUT = new Set(
  (
    'ARG_MAX ARG_MIN BUCKETIZE CAST CEIL EQUAL EXP FAKE_QUANT FLOOR FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL ' +
    'NOT_EQUAL POW QUANTIZE REDUCE_PROD ROUND SIGN TOPK_V2 UNSORTED_SEGMENT_PROD LOG RSQRT DIV ATAN2'
  ).split(' '),
);

interface Result {
  readonly name: string;
  readonly spec: LiteSpec;
}

/** Draws shapes of earlier results wherever it can, and codes that all results share but those of operators that have their own. */
class GraphDraw extends LiteDraw {
  readonly results: Result[] = [];

  override dims(from = 1, to = 4): number[] {
    const fitting = this.results.filter(
      ({ spec: { shape } }) =>
        shape.length >= Math.max(from, 1) && shape.length <= to && elementCount(shape) <= 2000,
    );
    return fitting.length > 0 && this.often(0.8)
      ? [...this.pick(fitting).spec.shape]
      : super.dims(from, to);
  }

  override image(): readonly number[] | undefined {
    const fitting = this.results.filter(
      ({ spec: { dtype, shape } }) =>
        shape.length === 4 && dtype !== 'bool' && elementCount(shape) <= 2000,
    );
    return fitting.length > 0 && this.often(0.8) ? this.pick(fitting).spec.shape : undefined;
  }

  override codes(dtype: 'int8' | 'uint8' | 'int16'): Quantization {
    return {
      scale: [dtype === 'int16' ? 2 ** -12 : 2 ** -5],
      zero: [dtype === 'uint8' ? 128 : 0],
      axis: 0,
    };
  }
}

const isAlike = (a: LiteSpec, b: LiteSpec): boolean =>
  a.dtype === b.dtype &&
  sameShape(a.shape, b.shape) &&
  JSON.stringify(a.quantization) === JSON.stringify(b.quantization);

/** A graph of 3 to 12 operators. An operand is an earlier result wherever one of its type has its shape. */
export function randomGraph(seed: number): LiteModelCase {
  const draw = new GraphDraw(seed, 'graph');
  const kinds = draw.pick(KINDS);
  const names = Object.keys(LITE_CASES).filter((op) => !LEFT_OUT.has(op));
  const length = draw.int(3, 12);
  const placed: PlacedCase[] = [];
  for (let tries = 0; placed.length < length && tries < 400; tries++) {
    const op = draw.pick(names);
    const cases = LITE_CASES[op];
    const fitting = kinds.filter((kind) => cases?.kinds.includes(kind) === true);
    if (cases === undefined || fitting.length === 0) continue;
    const node = { op, ...cases.draw(draw, draw.pick(fitting)) };
    const sources = node.inputs.map((operand) => sourceOf(operand, draw));
    // Most operators take something of the others.
    if (placed.length > 0 && sources.every((source) => source === undefined) && tries < 300)
      continue;
    placed.push({ node, sources });
    draw.results.push(
      ...node.outputs.map((spec, o) => ({ name: resultName(placed.length - 1, o), spec })),
    );
  }
  return liteModel(placed);
}

function sourceOf(operand: LiteOperand | undefined, draw: GraphDraw): string | undefined {
  if (operand === undefined || operand.isConstant || !operand.isFree) return undefined;
  // Late ones make graphs deep.
  const fitting = draw.results.filter(({ spec }) => isAlike(spec, operand)).slice(-3);
  return fitting.length === 0 ? undefined : draw.pick(fitting).name;
}
