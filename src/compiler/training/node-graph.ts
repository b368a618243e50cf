import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, TensorType } from '../../core/primitive-function.ts';
import type { GraphTarget, GraphTensor } from '../../ops/adjoint/graph-target.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import { call, constant } from '../ir/build.ts';
import type { Expr, Span } from '../ir/expr.ts';
import { formatType } from '../ir/type.ts';

/** Makes nodes of a graph: calls without lets, each one node however often it is read. */
export class NodeGraph implements GraphTarget {
  readonly #types: TypeInference;
  readonly #span: Span | undefined;
  readonly #exprs = new WeakMap<GraphTensor, Expr>();

  /** Nodes at a place of the source. */
  constructor(types: TypeInference, span?: Span) {
    this.#types = types;
    this.#span = span;
  }

  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): GraphTensor {
    const args = inputs.map((input) => this.exprOf(input));
    return this.tensor(call(op, args, attributes, this.#span));
  }

  constant(value: HostTensor): GraphTensor {
    return this.tensor(constant(value, this.#span));
  }

  /** An expression as a tensor. */
  tensor(expr: Expr): GraphTensor {
    const type = this.#types.of(expr);
    if (type.kind !== 'tensor') {
      throw new Error(`internal: an operator on ${formatType(type)}`);
    }
    const { dtype, shape }: TensorType = type;
    const tensor = { dtype, shape };
    this.#exprs.set(tensor, expr);
    return tensor;
  }

  /** The expression of a tensor of this graph. */
  exprOf(tensor: GraphTensor): Expr {
    const expr = this.#exprs.get(tensor);
    if (expr === undefined) throw new Error('internal: a tensor of another graph');
    return expr;
  }
}
