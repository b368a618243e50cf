import { HostTensor } from '../../core/host-tensor.ts';
import { call, constant } from '../ir/build.ts';
import type { CallExpr, Expr, FunctionExpr } from '../ir/expr.ts';
import { childrenOf, mapFunctions, postOrder, rewrite } from '../ir/visit.ts';
import type { TypeInference } from '../type-inference.ts';
import type { Pass } from './pass.ts';

/**
 * Batch normalisation with constant statistics is y = x * s + t for each channel, with
 * s = scale / sqrt(variance + epsilon) and t = bias - mean * s. After a convolution with constant
 * weights that nobody else reads, s and t go into its weights and bias; elsewhere they become a
 * multiplication and an addition. The arithmetic on weights is left in the module as calls on
 * constants, for fold-constants to do.
 */
export const foldBatchNorm: Pass = {
  name: 'fold-batch-norm',
  run(module, { types }) {
    return mapFunctions(module, (fn) => foldFunction(fn, types));
  },
};

function foldFunction(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const uses = countUses(fn.body);
  const body = rewrite(fn.body, (expr, original) => {
    if (!isOperatorCall(expr, 'batch_norm')) return expr;
    const affine = affineForm(expr);
    if (affine === undefined) return expr;
    const source = original.kind === 'call' ? original.args[0] : undefined;
    const isOnlyReader = source !== undefined && uses.get(source) === 1;
    return (isOnlyReader ? intoConvolution(affine, types) : undefined) ?? asMulAdd(affine, types);
  });
  return body === fn.body ? fn : { ...fn, body };
}

function countUses(root: Expr): ReadonlyMap<Expr, number> {
  const uses = new Map<Expr, number>();
  for (const expr of postOrder(root)) {
    for (const child of childrenOf(expr)) uses.set(child, (uses.get(child) ?? 0) + 1);
  }
  return uses;
}

function isOperatorCall(expr: Expr, op: string): expr is CallExpr {
  return expr.kind === 'call' && expr.callee.kind === 'operator' && expr.callee.name === op;
}

/** y = x * s + t, s and t of shape (channels,). */
interface Affine {
  readonly x: Expr;
  readonly s: Expr;
  readonly t: Expr;
  readonly norm: CallExpr;
}

function affineForm(norm: CallExpr): Affine | undefined {
  const [x, scale, bias, mean, variance] = norm.args;
  const statistics = [scale, bias, mean, variance].filter((arg) => arg?.kind === 'constant');
  if (x === undefined || statistics.length < 4) return undefined;
  if (!scale || !bias || !mean || !variance) return undefined;
  // In float16, every step of the arithmetic on weights would be rounded.
  if (statistics.some((arg) => arg.value.dtype !== 'float32')) return undefined;
  const epsilon = norm.attributes['epsilon'];
  const shifted = call('add', [variance, float(typeof epsilon === 'number' ? epsilon : 1e-5)]);
  const s = call('div', [scale, call('sqrt', [shifted])]);
  const t = call('sub', [bias, call('mul', [mean, s])]);
  return { x, s, t, norm };
}

function float(value: number): Expr {
  return constant(HostTensor.from('float32', [], [value]));
}

function intoConvolution({ x, s, t, norm }: Affine, types: TypeInference): Expr | undefined {
  if (!isOperatorCall(x, 'conv2d')) return undefined;
  const [input, weights, bias] = x.args;
  if (input === undefined || weights?.kind !== 'constant') return undefined;
  if (bias !== undefined && bias.kind !== 'constant') return undefined;
  const perOutputChannel = perChannel(s, weights.value.shape, { axis: 0, types });
  const scaledWeights = call('mul', [weights, perOutputChannel]);
  const scaledBias = bias === undefined ? t : call('add', [call('mul', [bias, s]), t]);
  const span = norm.span ?? x.span;
  return call('conv2d', [input, scaledWeights, scaledBias], x.attributes, span);
}

function asMulAdd({ x, s, t, norm }: Affine, types: TypeInference): Expr {
  const type = types.of(x);
  const shape = type.kind === 'tensor' ? type.shape : [];
  const scaled = call('mul', [x, perChannel(s, shape, { axis: 1, types })], {}, norm.span);
  return call('add', [scaled, perChannel(t, shape, { axis: 1, types })], {}, norm.span);
}

/** A vector of channels laid along one axis of a tensor, to broadcast over the others. */
function perChannel(
  vector: Expr,
  shape: readonly unknown[],
  { axis, types }: { axis: number; types: TypeInference },
): Expr {
  const channels = types.tensor(vector).shape[0] ?? 1;
  const laid = shape.map((_, i) => (i === axis ? channels : 1));
  return call('reshape', [vector], { shape: laid });
}
