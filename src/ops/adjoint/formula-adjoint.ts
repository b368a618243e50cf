import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import type { Formula } from '../formula/expression.ts';
import {
  childrenOf,
  type FunctionNode,
  type TypedExpression,
  typedFormula,
} from '../formula/infer-types.ts';
import { isFloatType, type ScalarType } from '../formula/scalar-type.ts';
import type { AdjointCall, AdjointRule } from './adjoint.ts';
import type { GraphTensor } from './graph-target.ts';
import { INTRINSIC_DERIVATIVES } from './intrinsic-derivatives.ts';

/** The adjoint of an elementwise operator: the derivatives of its formula, in reverse. */
export function formulaAdjoint(formula: Formula): AdjointRule {
  return (call) => new FormulaAdjoint(call).run(formula);
}

class FormulaAdjoint {
  readonly #call: AdjointCall;
  readonly #values = new Map<TypedExpression, GraphTensor>();
  readonly #variables = new Map<string, TypedExpression>();
  /** Cotangents of operands by index, and of variables by name. */
  readonly #cotangents = new Map<number | string, GraphTensor>();
  readonly #half: DType | undefined;

  constructor(call: AdjointCall) {
    this.#call = call;
    const tensors = [...call.inputs, call.output];
    this.#half = tensors.map(({ dtype }) => dtype).find(isHalf);
  }

  run(formula: Formula): readonly (GraphTensor | undefined)[] {
    const { inputs, output, attributes, cotangent, graph } = this.#call;
    const dtypes = inputs.map(({ dtype }) => (isHalf(dtype) ? 'float32' : dtype));
    const computed = isHalf(output.dtype) ? 'float32' : output.dtype;
    const root = typedFormula(formula, { attributes, dtypes, output: computed });
    this.#findVariables(root);
    // A formula of one node has the value of its operator.
    if (isOneNode(root)) this.#values.set(root, output);
    this.#pull(root, cotangent);
    return inputs.map(({ shape }, index) => {
      const found = this.#cotangents.get(index);
      return found === undefined ? undefined : graph.sumTo(found, shape);
    });
  }

  #findVariables(node: TypedExpression): void {
    if (node.kind === 'let') this.#variables.set(node.name, node.value);
    for (const child of childrenOf(node)) this.#findVariables(child);
  }

  #dtype(type: ScalarType): DType {
    return type === 'f32' && this.#half !== undefined ? this.#half : DTYPES[type];
  }

  #value(node: TypedExpression): GraphTensor {
    const known = this.#values.get(node);
    if (known !== undefined) return known;
    const value = this.#compute(node);
    this.#values.set(node, value);
    return value;
  }

  #compute(node: TypedExpression): GraphTensor {
    const { graph, inputs, output } = this.#call;
    switch (node.kind) {
      case 'operand':
        return inputs[node.index] ?? output;
      case 'constant':
        return graph.scalar(node.value, this.#dtype(node.type));
      case 'variable':
        return this.#value(this.#variables.get(node.name) ?? node);
      case 'let':
        return this.#value(node.body);
      default:
        return this.#apply(node);
    }
  }

  #apply(node: FunctionNode): GraphTensor {
    const { graph } = this.#call;
    const [a, b, c] = childrenOf(node).map((child) => this.#value(child));
    if (a === undefined) throw new Error(`internal: a ${node.kind} without operands`);
    switch (node.kind) {
      case 'unary':
        if (node.operator === 'trunc') {
          const isNegative = graph.less(a, 0);
          return graph.where(isNegative, graph.unary('ceil', a), graph.unary('floor', a));
        }
        if (node.operator === 'not') {
          return graph.unary(node.type === 'bool' ? 'logical_not' : 'bitwise_not', a);
        }
        return graph.unary(node.operator, a);
      case 'binary':
        return this.#binary(node.operator, node.type, [a, b ?? a]);
      case 'compare': {
        const compared = graph.call(COMPARISONS[node.operator], [a, b ?? a]);
        return node.operator === '!=' ? graph.unary('logical_not', compared) : compared;
      }
      case 'select':
        return graph.where(a, b ?? a, c ?? a);
      case 'convert':
        return graph.cast(a, this.#dtype(node.type));
      case 'test':
        return graph.unary(node.test === 'nan' ? 'is_nan' : 'is_positive_infinity', a);
      case 'intrinsic':
        if (node.name === 'quotient') return graph.div(a, b ?? a);
        return graph.call(node.name, b === undefined ? [a] : [a, b]);
      default:
        return node satisfies never;
    }
  }

  #binary(
    operator: keyof typeof BINARY_OPERATORS,
    type: ScalarType,
    [a, b]: readonly [GraphTensor, GraphTensor],
  ): GraphTensor {
    const { graph } = this.#call;
    if (operator === 'rem') return graph.call('mod', [a, b], { fmod: true });
    if (type === 'bool') {
      const no = graph.scalar(0, 'bool');
      if (operator === 'and') return graph.where(a, b, no);
      if (operator === 'or') return graph.where(a, graph.scalar(1, 'bool'), b);
      return graph.unary('logical_not', graph.equal(a, b));
    }
    return graph.call(BINARY_OPERATORS[operator], [a, b]);
  }

  /** Returns true if the node depends on an operand whose cotangent is wanted. */
  #isActive(node: TypedExpression): boolean {
    if (!isFloatType(node.type)) return false;
    if (node.kind === 'operand') return this.#call.wants(node.index);
    if (node.kind === 'variable') {
      const value = this.#variables.get(node.name);
      return value !== undefined && this.#isActive(value);
    }
    return childrenOf(node).some((child) => this.#isActive(child));
  }

  #addTo(key: number | string, cotangent: GraphTensor): void {
    const known = this.#cotangents.get(key);
    const sum = known === undefined ? cotangent : this.#call.graph.add(known, cotangent);
    this.#cotangents.set(key, sum);
  }

  /** Adds what a node's cotangent gives to those of operands. */
  #pull(node: TypedExpression, cotangent: GraphTensor): void {
    if (!this.#isActive(node)) return;
    switch (node.kind) {
      case 'operand':
        this.#addTo(node.index, cotangent);
        return;
      case 'variable':
        this.#addTo(node.name, cotangent);
        return;
      case 'let': {
        this.#pull(node.body, cotangent);
        const found = this.#cotangents.get(node.name);
        if (found !== undefined) this.#pull(node.value, found);
        return;
      }
      case 'constant':
      case 'compare':
      case 'test':
        return;
      default:
        this.#pullThrough(node, cotangent);
    }
  }

  #pullThrough(node: FunctionNode, cotangent: GraphTensor): void {
    const { graph } = this.#call;
    switch (node.kind) {
      case 'unary': {
        const { operator, x } = node;
        if (operator === 'neg') this.#pull(x, graph.neg(cotangent));
        if (operator === 'abs') {
          this.#pull(x, graph.mul(cotangent, graph.unary('sign', this.#value(x))));
        }
        if (operator === 'sqrt') {
          this.#pull(x, graph.div(graph.mul(cotangent, 0.5), this.#value(node)));
        }
        return;
      }
      case 'binary':
        this.#pullBinary(node.operator, [node.left, node.right], cotangent);
        return;
      case 'select': {
        const condition = this.#value(node.condition);
        if (this.#isActive(node.whenTrue)) {
          this.#pull(node.whenTrue, graph.where(condition, cotangent, 0));
        }
        if (this.#isActive(node.whenFalse)) {
          this.#pull(node.whenFalse, graph.where(condition, 0, cotangent));
        }
        return;
      }
      case 'convert':
        this.#pull(node.x, graph.cast(cotangent, this.#value(node.x).dtype));
        return;
      case 'intrinsic': {
        const operands = node.operands.map((operand) => this.#value(operand));
        for (const [i, operand] of node.operands.entries()) {
          if (!this.#isActive(operand)) continue;
          const derivative = INTRINSIC_DERIVATIVES[node.name][i];
          if (derivative === undefined) continue;
          const value = () => this.#value(node);
          this.#pull(operand, derivative(graph, cotangent, { operands, value }));
        }
        return;
      }
      case 'compare':
      case 'test':
        return;
      default:
        node satisfies never;
    }
  }

  #pullBinary(
    operator: keyof typeof BINARY_OPERATORS,
    [left, right]: readonly [TypedExpression, TypedExpression],
    cotangent: GraphTensor,
  ): void {
    const { graph } = this.#call;
    const to = (node: TypedExpression, part: () => GraphTensor): void => {
      if (this.#isActive(node)) this.#pull(node, part());
    };
    const [a, b] = [() => this.#value(left), () => this.#value(right)];
    switch (operator) {
      case 'add':
        to(left, () => cotangent);
        to(right, () => cotangent);
        return;
      case 'sub':
        to(left, () => cotangent);
        to(right, () => graph.neg(cotangent));
        return;
      case 'mul':
        to(left, () => graph.mul(cotangent, b()));
        to(right, () => graph.mul(cotangent, a()));
        return;
      case 'div':
        to(left, () => graph.div(cotangent, b()));
        to(right, () => graph.neg(graph.div(graph.mul(cotangent, graph.div(a(), b())), b())));
        return;
      case 'rem': {
        // a - b * trunc(a / b), whose quotient is constant almost everywhere.
        to(left, () => cotangent);
        to(right, () => {
          const multiple = graph.sub(a(), graph.call('mod', [a(), b()], { fmod: true }));
          return graph.neg(graph.mul(cotangent, graph.div(multiple, b())));
        });
        return;
      }
      case 'min':
      case 'max': {
        const isLeft = operator === 'min' ? graph.lessEqual(a(), b()) : graph.lessEqual(b(), a());
        to(left, () => graph.where(isLeft, cotangent, 0));
        to(right, () => graph.where(isLeft, 0, cotangent));
        return;
      }
      default:
        // Of integers and bools.
        return;
    }
  }
}

function isOneNode(node: TypedExpression): boolean {
  const isFunction = node.kind === 'unary' || node.kind === 'intrinsic';
  return isFunction && childrenOf(node).every(({ kind }) => kind === 'operand');
}

function isHalf(dtype: DType): boolean {
  const { category, byteLength } = dtypeInfo(dtype);
  return category === 'float' && byteLength < 4;
}

const DTYPES: Readonly<Record<ScalarType, DType>> = {
  f32: 'float32',
  f64: 'float64',
  i32: 'int32',
  u32: 'uint32',
  i64: 'int64',
  u64: 'uint64',
  bool: 'bool',
};

const COMPARISONS = { '==': 'equal', '!=': 'equal', '<': 'less', '<=': 'less_equal' } as const;

const BINARY_OPERATORS = {
  add: 'add',
  sub: 'sub',
  mul: 'mul',
  div: 'div',
  rem: 'mod',
  min: 'minimum',
  max: 'maximum',
  and: 'bitwise_and',
  or: 'bitwise_or',
  xor: 'bitwise_xor',
  shl: 'shift_left',
  shr: 'shift_right',
} as const;
