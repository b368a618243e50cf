import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { CallExpr } from '../../ir/expr.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { any, calls, either, type ExprPattern, filled } from '../../rewriting/expr-pattern.ts';
import { PatternTable } from '../../rewriting/pattern-table.ts';
import { matchPattern } from '../../rewriting/match-pattern.ts';

/**
 * A product with constant weights: a convolution or a matrix product. Its weights are seen as
 * (outer, rows, columns, inner), each row and column of one channel of the result and one of the
 * input.
 */
export interface WeightedProduct {
  readonly call: CallExpr;
  readonly weights: HostTensor;
  readonly weightIndex: number;
  readonly inputIndex: number;
  /** The axis of channels in the result and in the input; undefined where there is but one. */
  readonly resultAxis: number | undefined;
  readonly inputAxis: number | undefined;
  readonly resultRank: number;
  readonly layout: WeightLayout;
  /** The operand that is added for each channel of the result; undefined: there is none. */
  readonly biasIndex: number | undefined;
  /** The bias that is there; undefined: none. */
  readonly bias: HostTensor | undefined;
  /** Factors of the product and of its bias. */
  readonly alpha: number;
  readonly beta: number;
  /**
   * True if adding a number to an input channel adds a constant to each channel of the result: not
   * where zeros are padded.
   */
  readonly takesInputShift: boolean;
}

interface WeightLayout {
  readonly outer: number;
  readonly rows: number;
  readonly columns: number;
  readonly inner: number;
  readonly resultChannels: number;
  resultChannel(row: number, column: number): number;
  inputChannel(row: number, column: number): number;
}

/** Constants of a match and what else tells how a product uses them. */
interface Operands {
  readonly call: CallExpr;
  readonly weights: HostTensor;
  /** The bias that is there; undefined: none. */
  readonly bias: HostTensor | undefined;
  readonly types: TypeInference;
}

interface ProductRule {
  readonly pattern: ExprPattern;
  read(operands: Operands): WeightedProduct | undefined;
}

const X = any('x');
const WEIGHTS = filled(undefined, 'weights');

/** A product with constant weights, with a constant bias or without. */
function withBias(op: string): ExprPattern {
  return either(calls(op, [X, WEIGHTS]), calls(op, [X, WEIGHTS, filled(undefined, 'bias')]));
}

const PRODUCTS = new PatternTable<ProductRule>([
  { pattern: withBias('conv2d'), read: convolution },
  { pattern: withBias('conv3d'), read: convolution },
  {
    pattern: calls('deform_conv', [X, WEIGHTS], { isVariadic: true }),
    read: (operands) => ({
      ...convolution(operands),
      biasIndex: undefined,
      takesInputShift: false,
    }),
  },
  { pattern: withBias('conv_transpose'), read: transposedConvolution },
  { pattern: withBias('gemm'), read: gemm },
  { pattern: calls('matmul', [X, WEIGHTS]), read: matmulRight },
  { pattern: calls('matmul', [WEIGHTS, X]), read: matmulLeft },
]);

/** The product that a call is; undefined for other calls, and where weights or bias vary. */
export function weightedProduct(call: CallExpr, types: TypeInference): WeightedProduct | undefined {
  if (call.onDevice !== undefined) return undefined;
  for (const rule of PRODUCTS.rowsFor(call)) {
    const product = matchPattern(rule.pattern, call, {
      accept: (captures) => {
        const weights = captures.tensor('weights');
        const bias = captures.find('bias');
        const given = bias?.kind === 'constant' ? bias.value : undefined;
        return rule.read({ call, weights, bias: given, types });
      },
    });
    const dtype = product?.weights.dtype;
    if (product !== undefined)
      return dtype === 'float32' || dtype === 'float16' ? product : undefined;
  }
  return undefined;
}

const PLAIN = { alpha: 1, beta: 1, inputIndex: 0, weightIndex: 1 } as const;

/** Weights (K, C / groups, ...). */
function convolution({ call, weights, bias }: Operands): WeightedProduct {
  const [rows, columns, inner] = matrixOf(weights.shape);
  const groupRows = rows / groupsOf(call);
  const pads = call.attributes['pads'];
  return {
    ...PLAIN,
    call,
    weights,
    resultAxis: 1,
    inputAxis: 1,
    resultRank: weights.shape.length,
    layout: {
      outer: 1,
      rows,
      columns,
      inner,
      resultChannels: rows,
      resultChannel: (row) => row,
      inputChannel: (row, column) => Math.floor(row / groupRows) * columns + column,
    },
    biasIndex: 2,
    bias,
    // Padding is zeros, whatever is added to the input.
    takesInputShift: !Array.isArray(pads) || pads.every((pad) => pad === 0),
  };
}

/** Weights (C, K / groups, ...). Its sums have fewer terms at the borders. */
function transposedConvolution(operands: Operands): WeightedProduct {
  const product = convolution(operands);
  const { rows, columns } = product.layout;
  const groupCount = groupsOf(operands.call);
  const groupRows = rows / groupCount;
  const layout: WeightLayout = {
    ...product.layout,
    resultChannels: columns * groupCount,
    resultChannel: (row, column) => Math.floor(row / groupRows) * columns + column,
    inputChannel: (row) => row,
  };
  return { ...product, layout, takesInputShift: false };
}

function gemm({ call, weights, bias }: Operands): WeightedProduct {
  const { trans_a: isInputTransposed, trans_b: isTransposed, alpha, beta } = call.attributes;
  return {
    ...PLAIN,
    call,
    weights,
    resultAxis: 1,
    inputAxis: isInputTransposed === true ? 0 : 1,
    resultRank: 2,
    layout: matrixLayout(weights.shape, isTransposed === true),
    biasIndex: 2,
    bias,
    alpha: typeof alpha === 'number' ? alpha : 1,
    beta: typeof beta === 'number' ? beta : 1,
    takesInputShift: true,
  };
}

/** x by weights (..., K, N), or by (K,). */
function matmulRight({ call, weights, types }: Operands): WeightedProduct | undefined {
  const [input] = call.args;
  if (input === undefined) return undefined;
  const isVector = weights.shape.length === 1;
  return matmul(call, types, {
    weights,
    weightIndex: 1,
    inputIndex: 0,
    resultAxis: isVector ? undefined : rankOf(call, types) - 1,
    inputAxis: rankOf(input, types) - 1,
    layout: matrixLayout(isVector ? [...weights.shape, 1] : weights.shape, false),
  });
}

/** Weights (..., M, K), or (K,), by x. */
function matmulLeft({ call, weights, types }: Operands): WeightedProduct | undefined {
  const input = call.args[1];
  if (input === undefined) return undefined;
  const isVector = weights.shape.length === 1;
  const inputRank = rankOf(input, types);
  const columns = inputRank === 1 ? 0 : 1;
  return matmul(call, types, {
    weights,
    weightIndex: 0,
    inputIndex: 1,
    resultAxis: isVector ? undefined : rankOf(call, types) - 1 - columns,
    inputAxis: inputRank - 1 - columns,
    layout: matrixLayout(isVector ? [1, ...weights.shape] : weights.shape, true),
  });
}

function matmul(
  call: CallExpr,
  types: TypeInference,
  place: Pick<
    WeightedProduct,
    'weights' | 'weightIndex' | 'inputIndex' | 'resultAxis' | 'inputAxis' | 'layout'
  >,
): WeightedProduct | undefined {
  if (place.resultAxis !== undefined && place.resultAxis < 0) return undefined;
  const { outer } = place.layout;
  const type = types.of(call);
  // Zero matrices in a batch make weights without elements.
  if (type.kind !== 'tensor' || outer === 0) return undefined;
  return {
    call,
    ...place,
    resultRank: type.shape.length,
    biasIndex: undefined,
    bias: undefined,
    alpha: 1,
    beta: 1,
    takesInputShift: outer === 1,
  };
}

/** Matrices (..., input, result), or (..., result, input) if `isTransposed`. */
function matrixLayout(shape: readonly number[], isTransposed: boolean): WeightLayout {
  const rows = shape.at(-2) ?? 1;
  const columns = shape.at(-1) ?? 1;
  return {
    outer: shape.slice(0, -2).reduce((product, dim) => product * dim, 1),
    rows,
    columns,
    inner: 1,
    resultChannels: isTransposed ? rows : columns,
    resultChannel: isTransposed ? (row) => row : (_, column) => column,
    inputChannel: isTransposed ? (_, column) => column : (row) => row,
  };
}

function matrixOf([rows = 1, columns = 1, ...rest]: readonly number[]): [number, number, number] {
  return [rows, columns, rest.reduce((product, dim) => product * dim, 1)];
}

function groupsOf({ attributes }: CallExpr): number {
  const groups = attributes['groups'];
  return typeof groups === 'number' ? groups : 1;
}

function rankOf(expr: Parameters<TypeInference['of']>[0], types: TypeInference): number {
  const type = types.of(expr);
  return type.kind === 'tensor' ? type.shape.length : 0;
}
