import { type DType, dtypeInfo } from '../../../src/core/tensor/dtype.ts';
import { elementCount, type Shape } from '../../../src/core/tensor/shape.ts';
import type { OpDefinition } from '../../../src/ops/define-op.ts';
import type { OpCase, OpCaseInput } from '../../../src/ops/op-cases.ts';
import { TESTED_OPS } from '../../../src/ops/testing/tested-ops.ts';
import { casesOfAllDTypes } from '../../../src/conformance/dtype-variants.ts';
import type { GraphDraft } from './graph-draft.ts';
import { tensorFrom } from './tensor-values.ts';

const MAX_INPUT_ELEMENTS = 300;
/** Infinities and what comes near to them have tests of their own. */
const LARGEST_FLOAT = 1e3;

interface UsableCase {
  readonly op: OpDefinition;
  readonly cases: readonly OpCase[];
}

let usable: readonly UsableCase[] | undefined;

/** Small cases of all operators whose sizes do not depend on elements. */
function usableCases(): readonly UsableCase[] {
  usable ??= [...TESTED_OPS.values()].flatMap((op) => {
    // Kernels that programs bring along have tests of their own.
    if (op.kind === 'dynamic' || 'code' in op.attributes) return [];
    const cases = (op.kind === 'opaque' ? op.cases() : casesOfAllDTypes(op)).filter(isSmall);
    return cases.length === 0 ? [] : [{ op, cases }];
  });
  return usable;
}

function isSmall({ inputs }: OpCase): boolean {
  const last = inputs.findLastIndex((input) => input !== undefined);
  return inputs.slice(0, last + 1).every((input) => input !== undefined && isModest(input));
}

function isModest({ dtype, shape, values = [] }: OpCaseInput): boolean {
  if (elementCount(shape) > MAX_INPUT_ELEMENTS) return false;
  const isFloat = dtypeInfo(dtype).category === 'float';
  return !isFloat || values.every((value) => Math.abs(value) <= LARGEST_FLOAT);
}

/** A case of an operator, whose inputs are made of what the graph has, where that fits. */
export function proposeFromCase(draft: GraphDraft, filter: RegExp | undefined): number | undefined {
  const all = usableCases().filter(({ op }) => filter?.test(op.name) ?? true);
  if (all.length === 0) return undefined;
  const { op, cases } = draft.pick(all);
  const { inputs, attributes = {} } = draft.pick(cases);
  const operands = inputs.flatMap((input) => (input === undefined ? [] : [operand(draft, input)]));
  return draft.call(op.name, operands, attributes);
}

function operand(draft: GraphDraft, input: OpCaseInput): number {
  const { dtype, shape, range, values } = input;
  if (values !== undefined) {
    return draft.leaf(dtype, shape, { value: tensorFrom(dtype, shape, values) });
  }
  const isFloat = dtypeInfo(dtype).category === 'float';
  const canAdapt = isFloat || range === undefined;
  const adapted =
    canAdapt && draft.below(10) < 7 ? adapt(draft, { dtype, shape, range }) : undefined;
  return adapted ?? draft.leaf(dtype, shape, { range });
}

interface Wanted {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly range?: readonly [number, number] | undefined;
}

/** A value of the graph, repeated and cut to a shape and clipped to a range. */
function adapt(draft: GraphDraft, { dtype, shape, range }: Wanted): number | undefined {
  const from = draft.find(
    (type, node) => type.dtype === dtype && draft.value(node).elementCount > 0,
  );
  if (from === undefined) return undefined;
  const { shape: shapeBefore } = draft.type(from);
  const isConcrete = shapeBefore.every((dim) => typeof dim === 'number');
  if (!isConcrete) return undefined;
  const wanted = elementCount(shape);
  const available = draft.value(from).elementCount;
  const repeats = Math.max(1, Math.ceil(wanted / available));
  const flat = draft.call('reshape', [from], { shape: [available] });
  const tiled = flat && (repeats === 1 ? flat : draft.call('tile', [flat], { repeats: [repeats] }));
  const isWhole = available * repeats === wanted;
  const cut =
    tiled &&
    (isWhole ? tiled : draft.call('slice', [tiled], { starts: [0], ends: [wanted], steps: [1] }));
  const shaped = cut && draft.call('reshape', [cut], { shape });
  if (shaped === undefined || range === undefined) return shaped;
  return draft.call('clip', [shaped], { min: range[0], max: range[1] });
}
