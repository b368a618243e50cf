import { HostTensor } from '../../core/host-tensor.ts';
import type { TensorType } from '../../core/primitive-function.ts';
import { call, constant } from '../ir/build.ts';
import type { CallExpr, Expr, Module } from '../ir/expr.ts';
import { argsOf, operatorCall, spanOfCall } from '../ir/operator-call.ts';
import { childrenOf, mapFunctions, postOrder, rewrite } from '../ir/visit.ts';
import type { TypeInference } from '../inference/type-inference.ts';

/**
 * Finds attention that exporters spell out: a product with transposed keys, scaled before or behind,
 * with a bias or not, softmax along keys, and a product with values. Nothing else may read what lies
 * between, which the operator has no memory for.
 */
export function recognizeAttention(module: Module, types: TypeInference): Module {
  return mapFunctions(module, (fn) => {
    const uses = new Map<Expr, number>();
    for (const expr of postOrder(fn.body)) {
      for (const child of childrenOf(expr)) uses.set(child, (uses.get(child) ?? 0) + 1);
    }
    const results = new Map<Expr, Expr>();
    const finder = { uses, types };
    const body = rewrite(fn.body, (expr, original) => {
      const found = attention(original, finder);
      const operands = found?.operands.map((operand) => results.get(operand) ?? operand);
      const result = found && operands ? attentionCall(found, operands) : expr;
      results.set(original, result);
      return result;
    });
    return body === fn.body ? fn : { ...fn, body };
  });
}

interface Finder {
  readonly uses: ReadonlyMap<Expr, number>;
  readonly types: TypeInference;
}

interface Attention {
  /** Queries, what keys are a transpose of, values, and what is added to scores. */
  readonly operands: readonly Expr[];
  /** A `where` of the scores, or of a number where they are masked. */
  readonly mask: Mask | undefined;
  /** Of the keys, which lie (batch, heads, size, keys) or in any other order; undefined for none. */
  readonly perm: readonly number[] | undefined;
  readonly scale: number;
  readonly span: CallExpr['span'];
}

function attentionCall(found: Attention, operands: readonly Expr[]): Expr {
  const [query, key, value, bias] = operands;
  if (query === undefined || key === undefined || value === undefined) {
    throw new Error('internal: attention of nothing');
  }
  const { perm, mask, scale, span } = found;
  const keys = perm === undefined ? key : call('transpose', [key], { perm }, span);
  const added = bias && mask ? maskedBias(bias, mask) : bias;
  const args = [query, keys, value, ...(added === undefined ? [] : [added])];
  return call('scaled_dot_product_attention', args, { scale }, span);
}

/** 0 in place of scores: what is added to a score replaces it where it is masked. */
function maskedBias(condition: Expr, { call: { args, span }, at }: Mask): Expr {
  const zero = constant(HostTensor.from('float32', [], [0]));
  const choices = [1, 2].map((i) => (i === at ? zero : (args[i] ?? zero)));
  return call('where', [condition, ...choices], {}, span);
}

function attention(expr: Expr, finder: Finder): Attention | undefined {
  const [weights, value] = argsOf(expr, 'matmul');
  const type = weights && floatType(weights, finder);
  if (weights === undefined || value === undefined || type?.shape.length !== 4) return undefined;
  const isFresh = (inner: Expr | undefined): boolean =>
    inner?.kind === 'call' && isOnce(inner, finder);
  const axis = operatorCall(weights, 'softmax')?.attributes['axis'] ?? -1;
  const [biased] = argsOf(weights, 'softmax');
  if (biased === undefined || !isFresh(weights) || !isFresh(biased)) return undefined;
  if (axis !== -1 && axis !== 3) return undefined;
  for (const { scores, bias, mask } of sums(biased, type)) {
    const scaled = withoutScale(scores, type);
    const isShared = scores !== scaled.rest && !isFresh(scores);
    const [left, right] = argsOf(scaled.rest, 'matmul');
    if (left === undefined || right === undefined || isShared || !isFresh(scaled.rest)) continue;
    const keys = withoutScale(right, type);
    const perm = operatorCall(keys.rest, 'transpose')?.attributes['perm'];
    const [key] = argsOf(keys.rest, 'transpose');
    if (key === undefined || keys.rest === undefined || !Array.isArray(perm)) continue;
    const [batch, heads, size, positions] = perm.map(Number);
    const order = [batch, heads, positions, size].map((from) => from ?? 0);
    const isSame = order.every((from, to) => from === to);
    const operands = [left, key, value, ...(bias === undefined ? [] : [bias])];
    const wanted = [
      [left, 2],
      [keys.rest, 3],
      [value, -1],
    ] as const;
    if (!wanted.every(([operand, at]) => hasBatches(operand, { type, at, finder }))) continue;
    const scale = scaled.factor * keys.factor;
    return { operands, mask, perm: isSame ? undefined : order, scale, span: spanOfCall(expr) };
  }
  return undefined;
}

interface Mask {
  readonly call: CallExpr;
  /** Which operand the scores are. */
  readonly at: number;
}

interface Sum {
  readonly scores: Expr | undefined;
  readonly bias?: Expr;
  readonly mask?: Mask;
}

/** Beside a number this low a score is lost. */
const MASKED = -1e30;

/** The ways to read an expression as scores and what is added to them. */
function sums(expr: Expr, type: TensorType): readonly Sum[] {
  const where = operatorCall(expr, 'where');
  if (where !== undefined) {
    const at = (constantNumber(where.args[2], type) ?? 0) <= MASKED ? 1 : 2;
    const isMask = at === 1 || (constantNumber(where.args[1], type) ?? 0) <= MASKED;
    return isMask
      ? [{ scores: where.args[at], bias: where.args[0] ?? where, mask: { call: where, at } }]
      : [];
  }
  const [left, right] = argsOf(expr, 'add');
  if (left === undefined || right === undefined) return [{ scores: expr }];
  return [
    { scores: left, bias: right },
    { scores: right, bias: left },
  ];
}

/** A product or quotient by a number, as what is multiplied and the factor. */
function withoutScale(
  expr: Expr | undefined,
  type: TensorType,
): { readonly rest: Expr | undefined; readonly factor: number } {
  for (const op of ['mul', 'div']) {
    const [left, right] = argsOf(expr, op);
    const number = constantNumber(right, type);
    if (number !== undefined) return { rest: left, factor: op === 'mul' ? number : 1 / number };
    const first = op === 'mul' ? constantNumber(left, type) : undefined;
    if (first !== undefined) return { rest: right, factor: first };
  }
  return { rest: expr, factor: 1 };
}

interface Batches {
  /** The type of scores. */
  readonly type: TensorType;
  /** An axis that has to be as long as the last but one, or the last, of the scores. */
  readonly at: number;
  readonly finder: Finder;
}

/** Whether an operand has the batches and heads of the scores, none of which is then broadcast. */
function hasBatches(operand: Expr, { type, at, finder }: Batches): boolean {
  const found = floatType(operand, finder);
  return (
    found?.shape.length === 4 &&
    [0, 1, at].every(
      (axis) => JSON.stringify(found.shape[axis]) === JSON.stringify(type.shape[axis]),
    )
  );
}

function floatType(expr: Expr, { types }: Finder): TensorType | undefined {
  const type = types.of(expr);
  return type.kind === 'tensor' && type.dtype === 'float32' ? type : undefined;
}

function isOnce(expr: Expr, { uses }: Finder): boolean {
  return uses.get(expr) === 1;
}

function constantNumber(expr: Expr | undefined, { shape }: TensorType): number | undefined {
  if (expr?.kind !== 'constant' || expr.value.elementCount !== 1) return undefined;
  return expr.value.shape.length <= shape.length ? Number(expr.value.elements[0]) : undefined;
}
