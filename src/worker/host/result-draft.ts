import { foldValues } from '../../core/contracts/value-fold.ts';
import type {
  ClosureValue,
  PackedFunctionValue,
  TensorValue,
  Value,
} from '../../runtime/values/value.ts';
import type { WireValue } from '../protocol/wire-value.ts';
import { PageObject } from './page-object.ts';
import type { RefusedValue } from './refused-result.ts';
import { MACHINE_SIDE, type MachineForms } from '../../runtime/machine-side.ts';

/** Limits of a result for a page: messages must not exhaust stack or memory of a thread. */
const MAX_RESULT_COUNT = 1 << 16;
const MAX_RESULT_DEPTH = 1000;

export type FunctionValue = ClosureValue | PackedFunctionValue;

type TensorToWire = (tensor: TensorValue) => WireValue;

/** A result whose tensors have not been read or kept yet. */
export interface ResultDraft {
  /** Values that a page gets: each as often as it is met, since messages may not share them. */
  readonly count: number;
  readonly depth: number;
  readonly finish: (toWire: TensorToWire) => WireValue;
}

/** The draft of a whole result, with all tensors in it. */
export interface WholeDraft extends ResultDraft {
  readonly tensors: readonly TensorValue[];
}

/**
 * Results for a page, up to their tensors; `names` are the constructors of data. Functions are kept, where the page
 * takes any. Rejects with UsageError for what a page cannot take.
 */
export async function draftsOf(
  results: readonly Value[],
  names?: ReadonlyMap<Value, string>,
  keepFunction?: (value: FunctionValue) => WireValue,
): Promise<readonly WholeDraft[]> {
  let tensors = new Set<TensorValue>();
  let refused: RefusedValue | undefined = undefined as RefusedValue | undefined;
  const leaf = (wire: WireValue): ResultDraft => ({ count: 1, depth: 0, finish: () => wire });
  const refuse = (value: RefusedValue): ResultDraft => {
    refused ??= value;
    return leaf({ kind: 'null' });
  };
  const takeFunction = (value: FunctionValue): ResultDraft =>
    keepFunction === undefined
      ? refuse(value)
      : { count: 1, depth: 0, finish: () => keepFunction(value) };
  const draftOf = foldValues<MachineForms, ResultDraft>(MACHINE_SIDE, {
    null: () => leaf({ kind: 'null' }),
    int: (value) => leaf({ kind: 'int', value }),
    float: ({ value }) => leaf({ kind: 'float', value }),
    string: (value) => leaf({ kind: 'string', value }),
    shape: ({ dims }) => leaf({ kind: 'shape', value: dims }),
    tensor: (tensor) => {
      tensors.add(tensor);
      return { count: 1, depth: 0, finish: (toWire) => toWire(tensor) };
    },
    adt: (value, fields) => ({
      count: fields.reduce((sum, { count }) => sum + count, 1),
      depth: fields.reduce((most, { depth }) => Math.max(most, depth + 1), 0),
      finish: (toWire) => ({
        kind: 'adt',
        tag: value.tag,
        ...nameOf(names?.get(value)),
        fields: fields.map((field) => field.finish(toWire)),
      }),
    }),
    dtype: refuse,
    closure: takeFunction,
    packed: takeFunction,
    opaque: (value) => (value instanceof PageObject ? leaf(value.wire) : refuse(value)),
    storage: refuse,
    heap: refuse,
    vm: refuse,
  });
  const drafts = results.map((result) => {
    tensors = new Set();
    const draft = draftOf(result);
    return { ...draft, tensors: [...tensors] };
  });
  const count = drafts.reduce((sum, one) => sum + one.count, 0);
  if (count > MAX_RESULT_COUNT || drafts.some(({ depth }) => depth > MAX_RESULT_DEPTH)) {
    refused = 'values';
  }
  if (refused !== undefined) {
    const { refusedResult } = await import('./refused-result.ts');
    throw refusedResult(refused, MAX_RESULT_COUNT, MAX_RESULT_DEPTH);
  }
  return drafts;
}

function nameOf(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}
