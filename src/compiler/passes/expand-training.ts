import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { GraphBuilder } from '../../ops/adjoint/graph-builder.ts';
import type { GraphTarget, GraphTensor } from '../../ops/adjoint/graph-target.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import { exprOf, ExprTensor } from '../inference/expr-tensor.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import { call, constant, tuple } from '../ir/build.ts';
import type { Expr, Span } from '../ir/expr.ts';
import { operatorName } from '../ir/operators/operator-name.ts';
import { TRAINING_OPERATORS } from '../ir/operators/training-operators.ts';
import { formatType } from '../ir/type.ts';
import { rewriteBodies } from '../ir/walk/visit.ts';
import { expandTrainingCall } from '../training/expand-training-call.ts';
import { inferTypes } from './infer-types.ts';
import type { Pass } from './pass.ts';

/** Puts optimisers, losses and the other operators of training in other operators' terms. */
export const expandTraining: Pass = {
  name: 'expand-training',
  run(module, context) {
    const { types } = context;
    const expanded = rewriteBodies(module, (expr): Expr => {
      const op = TRAINING_OPERATORS.find(({ name }) => name === operatorName(expr));
      if (op === undefined || expr.kind !== 'call') return expr;
      const nodes = new NodeGraph(types, expr.span);
      const results = expandTrainingCall(op.name, {
        graph: new GraphBuilder(nodes),
        inputs: expr.args.map((arg) => nodes.tensor(arg)),
        attributes: completeAttributes(op, expr.attributes),
      });
      const values = (results ?? []).map(exprOf);
      const [only] = values;
      const isTuple = types.of(expr).kind === 'tuple';
      return !isTuple && only !== undefined ? only : tuple(values);
    });
    return expanded === module ? module : inferTypes.run(expanded, context);
  },
};

/** Makes nodes of a graph: calls without lets, each one node however often it is read. */
class NodeGraph implements GraphTarget {
  readonly #types: TypeInference;
  readonly #span: Span | undefined;

  /** Nodes at a place of the source. */
  constructor(types: TypeInference, span?: Span) {
    this.#types = types;
    this.#span = span;
  }

  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): GraphTensor {
    return this.tensor(call(op, inputs.map(exprOf), attributes, this.#span));
  }

  constant(value: HostTensor): GraphTensor {
    return this.tensor(constant(value, this.#span));
  }

  tensor(expr: Expr): ExprTensor {
    const type = this.#types.of(expr);
    if (type.kind !== 'tensor') {
      throw new Error(`internal: an operator on ${formatType(type)}`);
    }
    return new ExprTensor(expr, type);
  }
}
