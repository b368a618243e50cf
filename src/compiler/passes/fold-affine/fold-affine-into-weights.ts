import { internalError } from '../../../core/errors.ts';
import { batchNormAffine } from './read-affine.ts';
import { type AffineProduct, findAffineProducts } from './find-affine-products.ts';
import { isFinite, roundedTensor } from './affine.ts';
import { call, constant } from '../../ir/build.ts';
import type { CallExpr, Expr, FunctionExpr } from '../../ir/expr.ts';
import { mapFunctions, rewrite } from '../../ir/visit.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Pass } from '../pass.ts';

/**
 * Puts what scales or shifts the channels around a convolution or matrix product with constant
 * weights into its weights and bias: batch normalisation with constant statistics, and
 * multiplication, division, addition and subtraction of constants, behind the product and before
 * it, also across views. Each value between is read once, so that nothing is computed twice. Batch
 * normalisation elsewhere becomes a multiplication and an addition. Weights of integers stay.
 */
export const foldAffineIntoWeights: Pass = {
  name: 'fold-affine-into-weights',
  run(module, { types }) {
    return mapFunctions(module, (fn) => foldFunction(fn, types));
  },
};

function foldFunction(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const products = findAffineProducts(fn.body, types);
  const body = rewrite(fn.body, (expr, original) => {
    const product = products.get(original);
    if (product !== undefined) return rebuild(expr, product);
    return batchNormElsewhere(expr, types) ?? expr;
  });
  return body === fn.body ? fn : { ...fn, body };
}

/** `expr` is the last call behind the product, with its operands already rewritten. */
function rebuild(expr: Expr, { product, behind, before, folded }: AffineProduct): Expr {
  const views: CallExpr[] = [];
  let top = asCall(expr);
  const span = top.span;
  for (const { index, isView } of behind) {
    if (isView) views.push(top);
    top = asCall(operand(top, index));
  }
  const inputViews: CallExpr[] = [];
  let input = operand(top, product.inputIndex);
  for (const { index, isView } of before) {
    const step = asCall(input);
    if (isView) inputViews.push(step);
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

function batchNormElsewhere(expr: Expr, types: TypeInference): Expr | undefined {
  if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return undefined;
  if (expr.callee.name !== 'batch_norm' || expr.onDevice !== undefined) return undefined;
  const [x, statistic] = expr.args;
  if (x === undefined) return undefined;
  const type = types.of(x);
  if (type.kind !== 'tensor' || statistic?.kind !== 'constant') return undefined;
  // In float16 the product would be rounded on its way to the sum.
  if (type.dtype !== 'float32') return undefined;
  const affine = batchNormAffine(expr);
  if (affine === undefined || !isFinite(affine.scale) || !isFinite(affine.shift)) return undefined;
  const channels = statistic.value.shape[0] ?? 1;
  const shape = type.shape.map((_, axis) => (axis === 1 ? channels : 1));
  const scale = roundedTensor(type.dtype, shape, affine.scale);
  const shift = roundedTensor(type.dtype, shape, affine.shift);
  if (scale === undefined || shift === undefined) return undefined;
  const scaled = call('mul', [x, constant(scale)], {}, expr.span);
  return call('add', [scaled, constant(shift)], {}, expr.span);
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
