import type { DType } from '../core/tensor/dtype.ts';
import { elementCount } from '../core/tensor/shape.ts';
import type { OpDefinition } from '../ops/define-op.ts';
import type { OpCase, OpCaseInput, OpCases } from '../ops/op-cases.ts';
import { hostReason, KERNEL_DTYPES } from '../ops/lowering/placement.ts';
import { inferConcreteCall } from '../ops/infer-concrete-call.ts';

/** Cases of one dtype with whole words, and as many without. */
const VARIANT_COUNTS = { injective: 1, others: 2 };
const MAX_ELEMENT_COUNT = 2048;

/** The operator's own cases, and some of them again with each dtype that it takes and they lack. */
export function casesOfAllDTypes(op: OpDefinition & Pick<OpCases, 'cases'>): OpCase[] {
  const cases = op.cases();
  return [...cases, ...dtypeVariants(op, cases)];
}

function dtypeVariants(op: OpDefinition, cases: readonly OpCase[]): OpCase[] {
  const found = new Map<string, OpCase>();
  for (const position of op.inputs.keys()) {
    const used = new Set(
      [...cases, ...found.values()].map(({ inputs }) => inputs[position]?.dtype),
    );
    for (const dtype of op.inputs[position]?.dtypes ?? []) {
      if (!KERNEL_DTYPES.has(dtype) || used.has(dtype)) continue;
      const place = { position, dtype };
      for (const variant of variants(op, cases, place)) found.set(variant.title, variant);
    }
  }
  return [...found.values()];
}

interface Place {
  readonly position: number;
  readonly dtype: DType;
}

/**
 * Small cases in which `dtype` takes the place of an input's dtype wherever that stands. Some have a
 * number of elements that is no multiple of four.
 */
function variants(op: OpDefinition, cases: readonly OpCase[], place: Place): OpCase[] {
  const found = cases.flatMap((opCase): OpCase[] => {
    const variant = withDType(opCase, place);
    return variant !== undefined && isSmall(variant) && isAccepted(op, variant) ? [variant] : [];
  });
  const isEven = ({ inputs }: OpCase) => elementCount(inputs[0]?.shape ?? []) % 4 === 0;
  const odd = found.filter((variant) => !isEven(variant));
  const count = op.kind === 'injective' ? VARIANT_COUNTS.injective : VARIANT_COUNTS.others;
  return [...odd.slice(0, count), ...found.filter(isEven).slice(0, count)];
}

function withDType(opCase: OpCase, { position, dtype }: Place): OpCase | undefined {
  const from = opCase.inputs[position]?.dtype;
  if (from === undefined || from === 'bool' || dtype === 'bool') return undefined;
  const inputs = opCase.inputs.map((input) =>
    input?.dtype === from ? inRange({ ...input, dtype }) : input,
  );
  return { ...opCase, title: `${opCase.title}, ${from} as ${dtype}`, inputs };
}

/** Numbers that unsigned dtypes have too, and that float16 sums stay finite with. */
function inRange(input: OpCaseInput): OpCaseInput {
  const { dtype, range, values } = input;
  const sign = dtype.startsWith('uint') ? Math.abs : (value: number) => value;
  const limit = dtype === 'float16' ? 1000 : Infinity;
  const fit = (value: number) => sign(Math.min(Math.max(value, -limit), limit));
  const isFloat = dtype.startsWith('float');
  return {
    ...input,
    ...(values === undefined
      ? {}
      : { values: values.map((value) => (isFloat ? fit(value) : Math.trunc(fit(value)))) }),
    ...(range === undefined
      ? {}
      : {
          range: [Math.min(fit(range[0]), fit(range[1])), Math.max(fit(range[0]), fit(range[1]))],
        }),
  };
}

function isSmall({ inputs }: OpCase): boolean {
  return inputs.every((input) => elementCount(input?.shape ?? []) <= MAX_ELEMENT_COUNT);
}

function isAccepted(op: OpDefinition, { inputs, attributes }: OpCase): boolean {
  try {
    const { output } = inferConcreteCall(op, inputs, attributes ?? {});
    const dtypes = inputs.map((input) => input?.dtype);
    const call = { inputs: dtypes, output: output.dtype, attributes: attributes ?? {} };
    return elementCount(output.shape) <= MAX_ELEMENT_COUNT && hostReason(op, call) === undefined;
  } catch {
    return false;
  }
}
