import { UsageError } from '../core/errors.ts';
import { describeStray, findStrayIndex } from '../core/contracts/index-checks.ts';
import type { Attributes, TensorType } from '../core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../ops/tables/core-operators.ts';
import { call } from '../compiler/ir/build.ts';
import type { Expr } from '../compiler/ir/expr.ts';
import type { TensorTypeNode } from '../compiler/ir/type.ts';
import { atPlace } from '../compiler/inference/apply-operator.ts';
import { TypeInference } from '../compiler/inference/type-inference.ts';
import { ArrayState, exprIn, requireLive } from './array-state.ts';
import { callSite, placeOf } from './call-site.ts';
import { recordCall } from './eager/pending.ts';
import { type InnerOperand, statesOf } from './operand.ts';
import { currentFrame } from './trace.ts';
import type { Dim } from '../core/dims/dim.ts';
import { gather } from '../ops/movement/gather.ts';
import { gatherElements } from '../ops/indexing/gather-elements.ts';
import { gatherNd } from '../ops/indexing/gather-nd.ts';
import { scatterElements } from '../ops/indexing/scatter-elements.ts';
import { scatterNd } from '../ops/indexing/scatter-nd.ts';

const EAGER = new TypeInference();

/**
 * The call of an operator: written down in the program whose body runs, else for when its elements are read.
 * Throws ShapeError, TypeCheckError or UnsupportedError with the place of the call.
 */
export function apply(
  op: string,
  given: readonly (InnerOperand | undefined)[],
  attributes: Attributes = {},
): ArrayState {
  const { inputs } = CORE_OPERATORS.require(op);
  const operands = given.slice(0, given.findLastIndex((operand) => operand !== undefined) + 1);
  const states = statesOf(operands as readonly InnerOperand[], inputs, op);
  const written = Object.entries(attributes).some(([, value]) => value === undefined)
    ? (Object.fromEntries(
        Object.entries(attributes).filter(([, value]) => value !== undefined),
      ) as Attributes)
    : attributes;
  const frame = currentFrame();
  if (frame === undefined) return applyEagerly(op, states, written);
  const args = states.map((state) => exprIn(frame, state));
  const expr = call(op, args, written, callSite());
  const type = tensorTypeOf(frame.trace.inference, expr);
  requireIndices(op, states, written);
  return new ArrayState({ expr, type, frame });
}

function applyEagerly(
  op: string,
  states: readonly ArrayState[],
  attributes: Attributes,
): ArrayState {
  const args = states.map((state) => {
    requireLive(state);
    if (state.frame === undefined) return state.expr;
    return state.frame.use(state);
  });
  const expr = call(op, args, attributes);
  try {
    const type = tensorTypeOf(EAGER, expr);
    requireIndices(op, states, attributes);
    const depth = 1 + states.reduce((most, state) => Math.max(most, state.depth), 0);
    const state = new ArrayState({ expr, type, frame: undefined }, depth);
    recordCall(state, states);
    return state;
  } catch (thrown) {
    throw atPlace(thrown, callSite());
  }
}

/** Throws UsageError for an index that the page gave and that lies outside. Operators say what they do with others. */
function requireIndices(op: string, states: readonly ArrayState[], attributes: Attributes): void {
  const given = states[1]?.given;
  if (given === undefined) return;
  const types = states.map(({ type }) => type);
  const sizes = indexSizes(op, attributes, types);
  const below = sizes.filter((size) => typeof size === 'number');
  if (below.length === 0 || below.length < sizes.length) return;
  const stray = findStrayIndex(given.data, { lower: below.map((size) => -size), below });
  if (stray === undefined) return;
  const remedy = 'Negative ones count from the end.';
  throw new UsageError({ where: placeOf(op)(), ...describeStray(stray, given.shape), remedy });
}

export function tensorTypeOf(inference: TypeInference, expr: Expr): TensorTypeNode {
  const type = inference.of(expr);
  if (type.kind === 'tensor') return type;
  throw new Error(`internal: an array of type ${type.kind}`);
}

/**
 * The sizes that the indices of a call, its second operand, have to keep to: one for all of them, or one for each place
 * along their last axis. None for an operator without such indices.
 */
function indexSizes(
  op: string,
  { axis = 0, batch_dims: first = 0 }: Attributes,
  [x, indices]: readonly TensorType[],
): readonly Dim[] {
  const sizes = x?.shape ?? [];
  if (ALONG_AXIS.includes(op)) return [sizes.at(Number(axis)) ?? 0];
  if (!BY_TUPLES.includes(op)) return [];
  return sizes.slice(Number(first), Number(first) + Number(indices?.shape.at(-1)));
}

const ALONG_AXIS: readonly string[] = [gather.name, gatherElements.name, scatterElements.name];
const BY_TUPLES: readonly string[] = [gatherNd.name, scatterNd.name];
