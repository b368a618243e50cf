import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { formatDim } from '../../../../core/dims/dim.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { sameOrUnknown } from '../../paths/join-paths.ts';
import { importLoop } from '../../functions/loop-function.ts';
import type { Subgraph } from '../../model/subgraph.ts';
import { concatParts } from '../movement/joining.ts';
import { sliceAlong } from '../movement/slice-along.ts';

/** The body gets (states..., slices...) and gives (states..., scanned...). */
export function Scan(node: ImportNode): readonly Expr[] {
  return node.opset < 9 ? scanBatches(node) : scanSequence(node);
}

/** Since opset 9: no batch; any axis may be the sequence's. */
function scanSequence(node: ImportNode): readonly Expr[] {
  const { body, sequenceCount, stateCount, outputCount } = partsOf(node, 0);
  const states = node.inputs.slice(0, stateCount).map((_, i) => node.tensor(node.input(i)));
  const axes = node.attributes.ints('scan_input_axes') ?? [];
  const directions = node.attributes.ints('scan_input_directions') ?? [];
  const sequences = Array.from({ length: sequenceCount }, (_, i): Sequence => {
    const value = node.tensor(node.input(stateCount + i));
    const axis = normalizeAxis(axes[i] ?? 0, node.shape(value).length, node.where);
    return { value, axis, isReversed: directions[i] === 1 };
  });
  const outputAxes = node.attributes.ints('scan_output_axes') ?? [];
  const outputDirections = node.attributes.ints('scan_output_directions') ?? [];
  const { carried, scanned } = scan(node, {
    body,
    states,
    sequences,
    isReversed: (output) => outputDirections[output] === 1,
  });
  const moved = scanned.slice(0, outputCount).map((value, i) => {
    const rank = node.shape(value).length;
    return moveFirstAxis(node, value, normalizeAxis(outputAxes[i] ?? 0, rank, node.where));
  });
  return [...carried, ...moved];
}

interface Parts {
  readonly body: Subgraph;
  readonly sequenceCount: number;
  readonly stateCount: number;
  readonly outputCount: number;
}

function partsOf(node: ImportNode, leading: number): Parts {
  const body = node.subgraph('body');
  const sequenceCount = node.attributes.int('num_scan_inputs') ?? 0;
  const stateCount = node.inputs.length - leading - sequenceCount;
  const outputCount = body.outputNames.length - stateCount;
  const isWhole = sequenceCount > 0 && stateCount >= 0 && outputCount >= 0;
  if (isWhole && body.inputNames.length === stateCount + sequenceCount) {
    return { body, sequenceCount, stateCount, outputCount };
  }
  throw node.malformed(
    `${node.inputs.length - leading} inputs, ${sequenceCount} of them sequences, for a body of ` +
      `${body.inputNames.length} inputs and ${body.outputNames.length} outputs`,
    'as many inputs as the body has, at least one sequence, and an output for each state',
  );
}

/** A tensor that is cut along an axis, one slice for each iteration. */
interface Sequence {
  readonly value: Expr;
  readonly axis: number;
  readonly isReversed: boolean;
}

interface ScanSpec {
  readonly body: Subgraph;
  readonly states: readonly Expr[];
  readonly sequences: readonly Sequence[];
  readonly isReversed: (output: number) => boolean;
}

function scan(
  node: ImportNode,
  { body, states, sequences, isReversed }: ScanSpec,
): { carried: readonly Expr[]; scanned: readonly Expr[] } {
  const length = sequenceLength(node, sequences);
  const results = importLoop(node, {
    trip: length,
    condition: undefined,
    // The place from the begin, and from the end.
    counters: [
      { dtype: 'int32', first: 0, step: 1 },
      { dtype: 'int32', first: -1, step: -1 },
    ],
    initial: states,
    isReversed,
    body: ({ block, counters: [forward, backward], carried }) => {
      const slices = sequences.map(({ value, axis, isReversed: fromEnd }) => {
        const place = fromEnd ? backward : forward;
        if (place === undefined) throw new Error('internal: Scan without counters');
        return node.call('gather', [block.frame.capture(value), place], { axis });
      });
      const outputs = body.importInto(block, [...carried, ...slices]);
      const tensors = outputs.map((output) => node.tensor(output));
      return {
        condition: undefined,
        carried: tensors.slice(0, states.length),
        scanned: tensors.slice(states.length),
      };
    },
  });
  const scanned = results.scanned.map((value) =>
    node.reshape(value, [length, ...node.shape(value).slice(1)]),
  );
  return { carried: results.carried, scanned };
}

function sequenceLength(node: ImportNode, sequences: readonly Sequence[]): Dim {
  const lengths = sequences.map(({ value, axis }) => node.shape(value)[axis] ?? 0);
  const [first = 0] = lengths;
  const other = lengths.find(
    (length) => typeof length === 'number' && typeof first === 'number' && length !== first,
  );
  if (other === undefined) return first;
  throw node.malformed(`sequences of ${formatDim(first)} and ${formatDim(other)}`, 'one length');
}

/** Moves axis 0 to `axis`. */
function moveFirstAxis(node: ImportNode, value: Expr, axis: number): Expr {
  if (axis === 0) return value;
  const order = node.shape(value).map((_, i) => i);
  const perm = [...order.slice(1, axis + 1), 0, ...order.slice(axis + 1)];
  return node.call('transpose', [value], { perm });
}

/** Opset 8: axis 0 is the batch's and axis 1 the sequence's, whose length may differ in the batch. */
function scanBatches(node: ImportNode): readonly Expr[] {
  const { body, sequenceCount, stateCount } = partsOf(node, 1);
  const directions = node.attributes.ints('directions') ?? [];
  const inputs = node.inputs.slice(1).map((_, i) => node.tensor(node.input(i + 1)));
  const [first] = inputs;
  if (first === undefined) throw new Error('internal: Scan without inputs');
  const batch = node.number(node.shape(first)[0] ?? 0, 'the batch of a Scan of opset 8');
  const lengths = node.intsInput(0, 'sequence lengths');
  const results = Array.from({ length: batch }, (_, i) => {
    const rows = inputs.map((value) => rowOf(node, value, i));
    const whole = node.shape(rows[stateCount] ?? first)[0] ?? 0;
    const sequences = rows.slice(stateCount).map((value, k): Sequence => {
      const cut =
        lengths === undefined
          ? value
          : sliceAlong(node, value, { axis: 0, start: 0, end: lengths[i] ?? 0 });
      return { value: cut, axis: 0, isReversed: directions[k] === 1 };
    });
    const { carried, scanned } = scan(node, {
      body,
      states: rows.slice(0, stateCount),
      sequences,
      isReversed: () => false,
    });
    return [...carried, ...scanned.map((value) => padded(node, value, whole))].map((value) =>
      node.reshape(value, [1, ...node.shape(value)]),
    );
  });
  const [some = []] = results;
  if (batch === 0) throw node.unsupported('a batch of 0', 'at least one sequence');
  if (sequenceCount === 0) throw new Error('internal: Scan without sequences');
  return some.map((_, k) =>
    concatParts(
      node,
      results.flatMap((row) => row[k] ?? []),
      0,
    ),
  );
}

function rowOf(node: ImportNode, value: Expr, index: number): Expr {
  const row = sliceAlong(node, value, { axis: 0, start: index, end: index + 1 });
  return node.reshape(row, node.shape(value).slice(1));
}

/** Elements behind the end of a sequence are zero. */
function padded(node: ImportNode, value: Expr, length: Dim): Expr {
  const [own = 0, ...rest] = node.shape(value);
  if (sameOrUnknown(own, length) !== '?') return value;
  const shape = [node.dims.sub(length, own), ...rest];
  const zeros = node.call('full', [], { shape, value: 0, dtype: node.type(value).dtype });
  return concatParts(node, [value, zeros], 0);
}
