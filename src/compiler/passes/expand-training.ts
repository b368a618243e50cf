import { completeAttributes } from '../../ops/attributes.ts';
import { GraphBuilder } from '../../ops/adjoint/graph-builder.ts';
import { tuple } from '../ir/build.ts';
import type { Expr } from '../ir/expr.ts';
import { isTrainingOperator } from '../ir/training-operators.ts';
import { SCALAR_OPERATORS } from '../ir/scalar-operators.ts';
import { rewriteBodies } from '../ir/visit.ts';
import { NodeGraph } from '../training/node-graph.ts';
import { expandTrainingCall } from '../training/expand-training-call.ts';
import { inferTypes } from './infer-types.ts';
import type { Pass } from './pass.ts';

/** Puts optimisers, losses and the other operators of training in other operators' terms. */
export const expandTraining: Pass = {
  name: 'expand-training',
  run(module, context) {
    const { types } = context;
    const expanded = rewriteBodies(module, (expr): Expr => {
      if (expr.kind !== 'call' || expr.callee.kind !== 'operator') return expr;
      const { name } = expr.callee;
      const op = isTrainingOperator(name) ? SCALAR_OPERATORS.get(name) : undefined;
      if (op === undefined) return expr;
      const nodes = new NodeGraph(types, expr.span);
      const results = expandTrainingCall(name, {
        graph: new GraphBuilder(nodes),
        inputs: expr.args.map((arg) => nodes.tensor(arg)),
        attributes: completeAttributes(op, expr.attributes),
      });
      const values = (results ?? []).map((result) => nodes.exprOf(result));
      const [only] = values;
      const isTuple = types.of(expr).kind === 'tuple';
      return !isTuple && only !== undefined ? only : tuple(values);
    });
    return expanded === module ? module : inferTypes.run(expanded, context);
  },
};
