import * as ir from '../../../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../../../compiler/ir/expr.ts';
import { tensorType } from '../../../../compiler/ir/type.ts';
import { bindersOf, postOrder, rewrite } from '../../../../compiler/ir/walk/visit.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';

/**
 * The derivatives of the sum of `y` with respect to `xs`, where these and `zs` have the values of the inputs.
 * `withTensorNames` has put the tensors that the attributes name behind the inputs.
 */
function importGradient(node: ImportNode): Expr[] {
  const xs = node.attributes.strings('xs') ?? [];
  const zs = node.attributes.strings('zs') ?? [];
  node.attributes.ignore('y');
  const count = xs.length + zs.length;
  if (xs.length === 0 || node.inputs.length !== 2 * count + 1) {
    throw node.malformed(
      `${node.inputs.length - count - 1} inputs for ${count} tensors in xs and zs`,
      'as many, and one at least in xs',
    );
  }
  const named = Array.from({ length: count }, (_, i) => node.input(count + i));
  const given = named.map((_, i) => node.tensor(node.input(i)));
  const params = xs.map((name, i) =>
    ir.variableOf(name, tensorType(node.type(node.input(i))), node.span),
  );
  const y = node.tensor(node.input(2 * count));
  const total = node.call('reduce_sum', [y], { axes: [...node.shape(y).keys()], keepdims: false });
  const body = node.block.wrapDependents(total, new Set(named));
  const replaced = new Map<Expr, Expr>(bound(body).map((variable) => [variable, { ...variable }]));
  for (const [i, expr] of named.entries()) replaced.set(expr, params[i] ?? given[i] ?? expr);
  const fn = ir.func(
    params,
    rewrite(body, (expr, original) => replaced.get(original) ?? expr),
  );
  const result = ir.callFunction(ir.gradient(fn), given.slice(0, xs.length), node.span);
  return xs.map((_, i) => ir.projection(ir.projection(result, 1), i));
}

/** The variables that an expression binds: it stands a second time in the function that is differentiated. */
function bound(body: Expr): VarExpr[] {
  return postOrder(body).flatMap(bindersOf);
}

export const GRADIENT_IMPORTERS: OperatorImporters = {
  Gradient: since(1, 'reduce_sum', importGradient),
};
