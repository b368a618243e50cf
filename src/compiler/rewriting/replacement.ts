import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { type DType, dtypeInfo, isBigInt } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { AttributeValue } from '../../core/contracts/primitive-function.ts';
import { isSmallFloat } from '../../core/tensor/small-floats.ts';
import { call, constant } from '../ir/build.ts';
import type { Expr } from '../ir/expr.ts';
import type { Captures } from './captures.ts';
import { tensorTypeOf } from './has-types.ts';
import type { RewriteContext } from './rewrite-rule.ts';

/** The replacement of a match, as plain data over its captures. */
export type Replacement =
  | CaptureReplacement
  | NumberReplacement
  | TensorReplacement
  | CallReplacement;

interface CaptureReplacement {
  readonly kind: 'capture';
  readonly name: string;
}

/** A number, as a constant of rank 0 that has the dtype of the match. */
interface NumberReplacement {
  readonly kind: 'number';
  readonly value: number;
}

interface TensorReplacement {
  readonly kind: 'tensor';
  readonly value: HostTensor;
}

/** A new call. Attributes of its own come before those of calls that are copied. */
export interface CallReplacement {
  readonly kind: 'call';
  readonly op: string;
  readonly args: readonly Replacement[];
  readonly attributes: Readonly<Record<string, AttributeSource>>;
  /** Captured calls whose attributes it has too. */
  readonly copied: readonly string[];
}

export type AttributeSource =
  | { readonly from: 'value'; readonly value: AttributeValue }
  | { readonly from: 'attribute'; readonly name: string }
  | { readonly from: 'shape'; readonly name: string }
  | { readonly from: 'dtype'; readonly name: string };

/** The expression; undefined where its parts cannot be had, such as the shape of what is no tensor. */
export function makeReplacement(
  replacement: Replacement,
  captures: Captures,
  context: RewriteContext,
): Expr | undefined {
  switch (replacement.kind) {
    case 'capture':
      return captures.get(replacement.name);
    case 'tensor':
      return constant(replacement.value);
    case 'number':
      return numberLike(replacement.value, tensorTypeOf(captures.root, context.types)?.dtype);
    case 'call':
      return makeCall(replacement, captures, context);
    default:
      return replacement satisfies never;
  }
}

function numberLike(value: number, dtype: DType | undefined): Expr | undefined {
  if (dtype === undefined) return undefined;
  if (dtype === 'float16') return constant(HostTensor.from(dtype, [], [numberToFloat16(value)]));
  // A fraction is no element of integers; bits of small floats are none of numbers.
  const isFloat = dtypeInfo(dtype).category === 'float';
  if (isSmallFloat(dtype) || (!isFloat && !Number.isSafeInteger(value))) return undefined;
  return constant(HostTensor.from(dtype, [], [isBigInt(dtype) ? BigInt(value) : value]));
}

function makeCall(
  { op, args: parts, attributes: sources, copied }: CallReplacement,
  captures: Captures,
  context: RewriteContext,
): Expr | undefined {
  const args: Expr[] = [];
  for (const part of parts) {
    const arg = makeReplacement(part, captures, context);
    if (arg === undefined) return undefined;
    args.push(arg);
  }
  const attributes: Record<string, AttributeValue> = {};
  for (const name of copied) {
    const from = captures.get(name);
    if (from.kind === 'call') Object.assign(attributes, from.attributes);
  }
  for (const [name, source] of Object.entries(sources)) {
    const value = attributeValue(source, captures, context);
    if (value === undefined) return undefined;
    attributes[name] = value;
  }
  const { onDevice } = captures.root;
  return { ...call(op, args, attributes), ...(onDevice !== undefined && { onDevice }) };
}

function attributeValue(
  source: AttributeSource,
  captures: Captures,
  { types }: RewriteContext,
): AttributeValue | undefined {
  switch (source.from) {
    case 'value':
      return source.value;
    case 'attribute':
      return captures.attribute(source.name);
    case 'shape':
      return tensorTypeOf(captures.get(source.name), types)?.shape;
    case 'dtype':
      return tensorTypeOf(captures.get(source.name), types)?.dtype;
    default:
      return source satisfies never;
  }
}
