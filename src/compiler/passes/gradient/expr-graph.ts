import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import type { GraphTarget, GraphTensor } from '../../../ops/adjoint/graph-target.ts';
import { exprOf, ExprTensor } from '../../inference/expr-tensor.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { call, constant } from '../../ir/build.ts';
import type { CallExpr, Expr, Span } from '../../ir/expr.ts';
import { formatType } from '../../ir/type.ts';
import type { Emitter } from './emitter.ts';

interface Place {
  readonly span?: Span | undefined;
  readonly onDevice?: CallExpr['onDevice'];
}

/** Makes calls of operators where an emitter stands. Their place is that of the call they belong to. */
export class ExprGraph implements GraphTarget {
  readonly #types: TypeInference;
  readonly #emitter: Emitter;
  readonly #place: Place;

  constructor(types: TypeInference, emitter: Emitter, place: Place = {}) {
    this.#types = types;
    this.#emitter = emitter;
    this.#place = place;
  }

  call(op: string, inputs: readonly GraphTensor[], attributes: Attributes): ExprTensor {
    const { span, onDevice } = this.#place;
    const made = call(op, inputs.map(exprOf), attributes, span);
    const value = onDevice === undefined ? made : { ...made, onDevice };
    return this.tensor(this.#emitter.bind(value));
  }

  constant(value: HostTensor): ExprTensor {
    return this.tensor(constant(value));
  }

  tensor(expr: Expr): ExprTensor {
    const type = this.#types.of(expr);
    if (type.kind === 'tensor') return new ExprTensor(expr, type);
    throw new Error(`internal: a derivative of an operator on ${formatType(type)}`);
  }
}
