import { call, ifElse, int, stopOf } from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { tensorType } from '../../../../compiler/ir/type.ts';
import { type Dim, MAX_DIMENSION } from '../../../../core/dims/dim.ts';
import { CompileLimitError, UnsupportedError, WeftError } from '../../../../core/errors.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { Block } from '../../graph-scope.ts';
import { closedType } from '../../composite-values.ts';
import { declaredDataType } from '../../model/declared-type.ts';
import { hostInteger } from '../../sizes/host-integer.ts';
import type { ImportNode } from '../../import-node.ts';
import { conditionOf, importLoop, isConstantTrue } from '../../functions/loop-function.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';
import type { Subgraph } from '../../model/subgraph.ts';
import { concatParts } from '../movement/joining.ts';

/** Loops as short as this are written out, so that the sizes in each iteration are known. */
const MAX_UNROLLED_NODES = 256;
const MAX_UNROLLED = 16;

/** The body gets (iteration, condition, carried...) and gives (condition, carried..., scanned...). */
export function Loop(node: ImportNode): readonly Expr[] {
  const body = node.subgraph('body');
  const initial = node.inputs.slice(2).map((_, i) => node.input(i + 2));
  requireArity(node, body, initial.length);
  const trip = tripCount(node);
  const given = node.inputs[1];
  const condition = given && conditionOf(node, given);
  const operands = { body, trip, condition, initial };
  try {
    return unroll(node, operands) ?? loop(node, operands);
  } catch (thrown) {
    const isOfOperands = thrown instanceof WeftError && !node.context.faults.has(thrown);
    const isFinal = thrown instanceof UnsupportedError || thrown instanceof CompileLimitError;
    if (!isOfOperands || isFinal) throw thrown;
    return withoutIterations(node, operands, thrown);
  }
}

function loop(node: ImportNode, { body, trip, condition, initial }: LoopOperands): readonly Expr[] {
  const { carried, scanned } = importLoop(node, {
    trip,
    condition,
    counters: [{ dtype: 'int64', first: 0, step: 1 }],
    initial: initial.map((value) => carriedValue(node, value)),
    declared: body.inputs.slice(2).map(({ type }) => declaredDataType(type, body.where)),
    isReversed: () => false,
    body: ({ block, counters, condition: before, carried: values }) => {
      const counted = counters.map((counter) => counterFor(node, body, counter));
      const [after, ...outputs] = body.importInto(block, [...counted, before, ...values]);
      const tensors = outputs.map((output) => carriedValue(node, output));
      return {
        condition: after && conditionOf(node, after),
        carried: tensors.slice(0, initial.length),
        scanned: tensors.slice(initial.length),
      };
    },
  });
  return [...carried, ...scanned];
}

/**
 * A loop whose body has operands that do not fit each other: what it begins with where it ends before
 * its first iteration, else the program stops. Throws the error where there is an iteration for sure,
 * and where nothing says what the body collects.
 */
function withoutIterations(
  node: ImportNode,
  { body, trip, condition, initial }: LoopOperands,
  error: WeftError,
): readonly Expr[] {
  const isEndless = trip === undefined || (typeof trip === 'number' && trip > 0);
  if (isEndless && (condition === undefined || isConstantTrue(condition))) throw error;
  const carried = initial.map((value) => node.data(value));
  const collected = body.outputs
    .slice(1 + initial.length)
    .map((output) => emptyStack(node, output, error));
  const limit = trip === undefined ? undefined : hostInteger(trip, node.block.frame);
  const types = initial.map((value) => closedType(node.dataType(value)));
  return [...carried, ...collected].map((value, i) => {
    const type = types[i] ?? tensorType(node.type(value));
    const stop = stopOf(error, type);
    const checked = condition === undefined ? stop : ifElse(condition, stop, value);
    const result =
      limit === undefined ? checked : ifElse(call('int_lt', [int(0), limit]), checked, value);
    return node.block.bind(result, { name: 'looped', type, span: node.span });
  });
}

/** The collection of no iterations. */
function emptyStack(
  node: ImportNode,
  { type }: Subgraph['outputs'][number],
  error: WeftError,
): Expr {
  const tensor = type?.tensorType;
  if (tensor?.shape === undefined) throw error;
  const dims = tensor.shape.dim.map(({ dimValue }) => Math.max(dimValue ?? 0, 0));
  const dtype = dtypeFromOnnx(tensor.elemType, node.where);
  return node.constant(HostTensor.zeros(dtype, [0, ...dims]));
}

function requireArity(node: ImportNode, body: Subgraph, carriedCount: number): void {
  const inputs = body.inputNames.length;
  const outputs = body.outputNames.length;
  if (inputs === carriedCount + 2 && outputs > carriedCount) return;
  throw node.malformed(
    `a body of ${inputs} inputs and ${outputs} outputs for ${carriedCount} carried values`,
    `${carriedCount + 2} inputs and at least ${carriedCount + 1} outputs`,
  );
}

/** Undefined for no limit, which exporters write as the largest int64 too. */
function tripCount(node: ImportNode): Dim | undefined {
  if (node.isComputed(0)) {
    const most = node.scalar(MAX_DIMENSION, 'int64');
    const limited = node.call('minimum', [node.input(0), most]);
    const counted = node.call('maximum', [limited, node.scalar(0, 'int64')]);
    return node.readSizes('sizes', counted, { what: 'trip count' })[0];
  }
  const trip = node.dimsInput(0, 'trip count')?.[0];
  if (typeof trip !== 'number') return trip;
  return trip > MAX_DIMENSION ? undefined : Math.max(trip, 0);
}

interface LoopOperands {
  readonly body: Subgraph;
  readonly trip: Dim | undefined;
  readonly condition: Expr | undefined;
  readonly initial: readonly Expr[];
}

/** The results of a short loop whose condition is constant in each iteration; else undefined. */
function unroll(
  node: ImportNode,
  { body, trip, condition, initial }: LoopOperands,
): readonly Expr[] | undefined {
  if (condition !== undefined && condition.kind !== 'constant') return undefined;
  const isShort =
    typeof trip === 'number' && trip <= MAX_UNROLLED && trip * body.nodeCount <= MAX_UNROLLED_NODES;
  const isSkipped = condition !== undefined && !isConstantTrue(condition);
  if (!isShort || (trip === 0 && !isSkipped) || isSkipped) return undefined;
  const block = new Block(node.context, node.block.frame);
  const scanned: Expr[][] = body.outputNames.slice(1 + initial.length).map(() => []);
  let carried = initial;
  let goesOn = condition ?? node.scalar(1, 'bool');
  for (let i = 0; i < trip && isConstantTrue(goesOn); i++) {
    const inputs = [counterFor(node, body, node.scalar(i, 'int64')), goesOn, ...carried];
    const [after, ...outputs] = body.importInto(block, inputs);
    if (after?.kind !== 'constant') return undefined;
    goesOn = conditionOf(node, after);
    carried = outputs.slice(0, initial.length);
    for (const [k, parts] of scanned.entries()) {
      const output = outputs[initial.length + k];
      if (output !== undefined) parts.push(asPart(node, node.tensor(output)));
    }
  }
  node.block.absorb(block);
  return [...carried, ...scanned.map((parts) => concatParts(node, parts, 0))];
}

/**
 * The number of the iteration as the body declares it: of rank 0 or of shape (1,). Where it does not say, it has the
 * rank of the trip count, as in onnxruntime.
 */
function counterFor(node: ImportNode, body: Subgraph, counter: Expr): Expr {
  const declared = body.inputs[0]?.type?.tensorType?.shape?.dim.length;
  const trip = node.inputs[0];
  const rank = declared ?? (trip === undefined ? 0 : node.shape(trip).length);
  return rank === 1 ? node.reshape(counter, [1]) : counter;
}

/** A value that an iteration gives to the next: a sequence whose elements are known stays one. */
function carriedValue(node: ImportNode, value: Expr): Expr {
  return node.composite(value) === undefined ? node.tensor(value) : value;
}

function asPart(node: ImportNode, value: Expr): Expr {
  return node.reshape(value, [1, ...node.shape(value)]);
}
