import type { Expr } from '../../compiler/ir/expr.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { GraphBuilder } from '../../ops/adjoint/graph-builder.ts';
import type { GraphTarget, GraphTensor } from '../../ops/adjoint/graph-target.ts';
import type { ImportNode } from './import-node.ts';

/** Makes the calls of a node by a graph builder. */
export class NodeGraphTarget implements GraphTarget {
  readonly #node: ImportNode;
  readonly #exprs = new WeakMap<GraphTensor, Expr>();
  readonly builder = new GraphBuilder(this);

  constructor(node: ImportNode) {
    this.#node = node;
  }

  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): GraphTensor {
    const args = inputs.map((input) => this.exprOf(input));
    return this.tensor(this.#node.call(op, args, attributes));
  }

  constant(value: HostTensor): GraphTensor {
    return this.tensor(this.#node.constant(value));
  }

  tensor(expr: Expr): GraphTensor {
    const { dtype, shape } = this.#node.type(expr);
    const tensor = { dtype, shape };
    this.#exprs.set(tensor, expr);
    return tensor;
  }

  exprOf(tensor: GraphTensor): Expr {
    const expr = this.#exprs.get(tensor);
    if (expr === undefined) throw new Error('internal: a tensor of another graph');
    return expr;
  }
}
