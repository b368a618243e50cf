import { exprOf, ExprTensor } from '../../compiler/inference/expr-tensor.ts';
import type { Expr } from '../../compiler/ir/expr.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { GraphBuilder } from '../../ops/adjoint/graph-builder.ts';
import type { GraphTarget, GraphTensor } from '../../ops/adjoint/graph-target.ts';
import type { ImportNode } from './import-node.ts';

/** Makes the calls of a node by a graph builder. */
export class NodeGraphTarget implements GraphTarget {
  readonly #node: ImportNode;
  readonly builder = new GraphBuilder(this);

  constructor(node: ImportNode) {
    this.#node = node;
  }

  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): GraphTensor {
    return this.tensor(this.#node.call(op, inputs.map(exprOf), attributes));
  }

  constant(value: HostTensor): GraphTensor {
    return this.tensor(this.#node.constant(value));
  }

  tensor(expr: Expr): GraphTensor {
    return new ExprTensor(expr, this.#node.type(expr));
  }
}
