import { internalError } from '../../../core/errors.ts';
import { BATCH_NORM, batchNormAffine } from './read-affine.ts';
import { type AffineProduct, findAffineProducts } from './find-affine-products.ts';
import { isFinite, roundedTensor } from './affine.ts';
import { call, constant } from '../../ir/build.ts';
import { type CallExpr, type Expr, type FunctionExpr, spanOf } from '../../ir/expr.ts';
import { mapFunctions, rewrite } from '../../ir/walk/visit.ts';
import type { Captures } from '../../rewriting/captures.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import { rewriteModule } from '../../rewriting/rewrite-module.ts';
import type { RewriteContext, RewriteRule } from '../../rewriting/rewrite-rule.ts';
import type { Pass, PassContext } from '../pass.ts';

/** Batch normalisation that no product takes. */
const RULES: readonly RewriteRule[] = [
  {
    name: 'batch_norm = x * s + t',
    pattern: BATCH_NORM,
    // In float16 the product would be rounded on its way to the sum.
    types: { x: { dtypes: ['float32'] } },
    replace: batchNormElsewhere,
  },
];

/**
 * Puts what scales or shifts the channels around a convolution or matrix product with constant
 * weights into its weights and bias: batch normalisation with constant statistics, and
 * multiplication, division, addition and subtraction of constants, behind the product and before
 * it, also across views. Each value between is read once, so that nothing is computed twice. A chain
 * is folded at once, so that weights are rounded once. Batch normalisation elsewhere becomes a
 * multiplication and an addition. Weights of integers stay.
 */
export const foldAffineIntoWeights: Pass = {
  name: 'fold-affine-into-weights',
  rules: RULES,
  run(module, context) {
    const folded = mapFunctions(module, (fn, name) => foldFunction(fn, name, context));
    return rewriteModule(folded, RULES, context);
  },
};

function foldFunction(fn: FunctionExpr, name: string, context: PassContext): FunctionExpr {
  const products = findAffineProducts(fn.body, context.types);
  if (products.size === 0) return fn;
  const body = rewrite(fn.body, (expr, original) => {
    const product = products.get(original);
    if (product === undefined) return expr;
    for (const { rule } of [...product.before, ...product.behind.toReversed()]) {
      if (rule !== undefined) context.onRewrite?.({ rule, function: name, span: spanOf(original) });
    }
    return rebuild(expr, product);
  });
  return { ...fn, body };
}

/** `expr` is the last call behind the product, with its operands already rewritten. */
function rebuild(expr: Expr, { product, behind, before, folded }: AffineProduct): Expr {
  const views: CallExpr[] = [];
  let top = asCall(expr);
  const span = top.span;
  for (const { index, rule } of behind) {
    if (rule === undefined) views.push(top);
    top = asCall(operand(top, index));
  }
  const inputViews: CallExpr[] = [];
  let input = operand(top, product.inputIndex);
  for (const { index, rule } of before) {
    const step = asCall(input);
    if (rule === undefined) inputViews.push(step);
    input = operand(step, index);
  }
  for (const view of inputViews.toReversed()) input = onOperand(view, input);
  let result = withWeights(top, input, { product, folded, span });
  for (const view of views.toReversed()) result = onOperand(view, result);
  return result;
}

function withWeights(
  top: CallExpr,
  input: Expr,
  {
    product,
    folded,
    span,
  }: Pick<AffineProduct, 'product' | 'folded'> & { readonly span: CallExpr['span'] | undefined },
): Expr {
  const { weights, bias } = folded;
  const args = top.args.slice();
  args[product.inputIndex] = input;
  args[product.weightIndex] = constant(weights);
  const { biasIndex } = product;
  if (bias === undefined || biasIndex === undefined) {
    const scaled: Expr = { ...top, args };
    return bias === undefined
      ? scaled
      : call('add', [scaled, constant(bias.reshape(folded.addedShape))], {}, span ?? top.span);
  }
  args[biasIndex] = constant(bias);
  // The bias has the factor in it.
  const attributes = product.beta === 1 ? top.attributes : { ...top.attributes, beta: 1 };
  return { ...top, args, attributes };
}

function batchNormElsewhere(captures: Captures, { types }: RewriteContext): Expr | undefined {
  const x = captures.get('x');
  const type = tensorTypeOf(x, types);
  if (type === undefined || captures.root.onDevice !== undefined) return undefined;
  const affine = batchNormAffine(captures);
  if (!isFinite(affine.scale) || !isFinite(affine.shift)) return undefined;
  const channels = captures.tensor('scale').shape[0] ?? 1;
  const shape = type.shape.map((_, axis) => (axis === 1 ? channels : 1));
  const scale = roundedTensor(type.dtype, shape, affine.scale);
  const shift = roundedTensor(type.dtype, shape, affine.shift);
  if (scale === undefined || shift === undefined) return undefined;
  return call('add', [call('mul', [x, constant(scale)]), constant(shift)]);
}

function onOperand(view: CallExpr, source: Expr): Expr {
  return { ...view, args: [source, ...view.args.slice(1)] };
}

function operand(expr: CallExpr, index: number): Expr {
  const arg = expr.args[index];
  if (arg !== undefined) return arg;
  throw internalError(`a call without operand ${index}`);
}

function asCall(expr: Expr): CallExpr {
  if (expr.kind === 'call') return expr;
  throw internalError('no call where one was found before');
}
