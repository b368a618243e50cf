import { internalError } from '../../core/errors.ts';
import { floatAttribute } from '../attributes.ts';
import { numberConverter } from './host/convert-number.ts';
import type {
  BinaryNode,
  CompareNode,
  ConvertNode,
  Expression,
  Formula,
  FormulaCall,
  IntrinsicNode,
  Leaf,
  LetNode,
  SelectNode,
  TestNode,
  UnaryNode,
} from './expression.ts';
import { type ScalarType, scalarType } from './scalar-type.ts';

/** An expression whose nodes know their types, and whose attributes are constants. */
export type TypedExpression = HasType & (Leaf | LetNode<TypedExpression> | Applied);

/** A node that computes something of its children's values. */
export type FunctionNode = HasType & Applied;

type Applied =
  | UnaryNode<TypedExpression>
  | BinaryNode<TypedExpression>
  | CompareNode<TypedExpression>
  | SelectNode<TypedExpression>
  | ConvertNode<TypedExpression>
  | TestNode<TypedExpression>
  | IntrinsicNode<TypedExpression>;

interface HasType {
  readonly type: ScalarType;
}

/** The innermost variable, and those around it. */
type Variables =
  | { readonly name: string; readonly type: ScalarType; readonly outer: Variables }
  | undefined;

export function typedFormula(formula: Formula, call: FormulaCall): TypedExpression {
  const expression = typeof formula === 'function' ? formula(call) : formula;
  const typed = inferTypes(expression, call);
  if (typed.type === scalarType(call.output)) return typed;
  throw internalError(`a formula gives ${typed.type} where ${call.output} is wanted`);
}

/**
 * Gives every node its type: that of its operands, and for constants that of what they are combined
 * with. Nothing is converted implicitly: operands whose types differ are a bug of the formula.
 */
export function inferTypes(expression: Expression, call: FormulaCall): TypedExpression {
  return new TypeInference(call).infer(expression, scalarType(call.output), undefined);
}

class TypeInference {
  readonly #call: FormulaCall;
  /** Types that were found: the type of a `let` is asked for by all that are around it. */
  readonly #known = new Map<Expression, ScalarType>();

  constructor(call: FormulaCall) {
    this.#call = call;
  }

  infer(node: Expression, wanted: ScalarType, variables: Variables): TypedExpression {
    return this.#typed(node, this.#typeOf(node, variables) ?? wanted, variables);
  }

  /** The node, whose type is known. */
  #typed(node: Expression, type: ScalarType, variables: Variables): TypedExpression {
    const child = (of: Expression, wanted: ScalarType, known = variables) => {
      const typed = this.infer(of, wanted, known);
      if (typed.type === wanted) return typed;
      throw internalError(`${node.kind} has an operand ${typed.type} where it takes ${wanted}`);
    };
    switch (node.kind) {
      case 'operand':
      case 'variable':
      case 'constant':
        return { ...node, type };
      case 'attribute':
        return { kind: 'constant', value: floatAttribute(this.#call.attributes, node.name), type };
      case 'let': {
        const value = this.infer(node.value, type, variables);
        const known = { name: node.name, type: value.type, outer: variables };
        return { ...node, type, value, body: child(node.body, type, known) };
      }
      case 'unary':
        return { ...node, type, x: child(node.x, type) };
      case 'binary':
        return { ...node, type, left: child(node.left, type), right: child(node.right, type) };
      case 'compare': {
        const { left, right } = node;
        const compared = this.#firstType([left, right], variables) ?? 'f32';
        return { ...node, type, left: child(left, compared), right: child(right, compared) };
      }
      case 'select': {
        const condition = child(node.condition, 'bool');
        const [whenTrue, whenFalse] = [child(node.whenTrue, type), child(node.whenFalse, type)];
        return { ...node, type, condition, whenTrue, whenFalse };
      }
      case 'convert': {
        const x = this.infer(node.x, type, variables);
        // The place of a constant decides its type: what remains is to round it.
        if (x.kind === 'constant')
          return { ...x, type, value: numberConverter('f64', type)(x.value) };
        return { ...node, type, x };
      }
      case 'test':
        return { ...node, type, x: this.infer(node.x, 'f32', variables) };
      case 'intrinsic':
        return { ...node, type, operands: node.operands.map((operand) => child(operand, type)) };
      default:
        return node satisfies never;
    }
  }

  /** The type, or undefined where that of the place decides. */
  #typeOf(node: Expression, variables: Variables): ScalarType | undefined {
    const type = this.#known.get(node) ?? this.#find(node, variables);
    if (type !== undefined) this.#known.set(node, type);
    return type;
  }

  #find(node: Expression, variables: Variables): ScalarType | undefined {
    switch (node.kind) {
      case 'operand':
        return scalarType(this.#call.dtypes[node.index] ?? this.#call.output);
      case 'variable':
        return typeOfVariable(node.name, variables);
      case 'constant':
      case 'attribute':
        return undefined;
      case 'let': {
        const type = this.#typeOf(node.value, variables);
        const known = type && { name: node.name, type, outer: variables };
        return this.#typeOf(node.body, known ?? variables);
      }
      case 'unary':
        return this.#typeOf(node.x, variables);
      case 'binary':
        return this.#firstType([node.left, node.right], variables);
      case 'compare':
      case 'test':
        return 'bool';
      case 'select':
        return this.#firstType([node.whenTrue, node.whenFalse], variables);
      case 'convert':
        return node.to === 'output' ? scalarType(this.#call.output) : node.to;
      case 'intrinsic':
        return this.#firstType(node.operands, variables);
      default:
        return node satisfies never;
    }
  }

  #firstType(nodes: readonly Expression[], variables: Variables): ScalarType | undefined {
    for (const node of nodes) {
      const type = this.#typeOf(node, variables);
      if (type !== undefined) return type;
    }
    return undefined;
  }
}

function typeOfVariable(name: string, variables: Variables): ScalarType | undefined {
  let known = variables;
  while (known !== undefined && known.name !== name) known = known.outer;
  return known?.type;
}

export function childrenOf(node: TypedExpression): readonly TypedExpression[] {
  switch (node.kind) {
    case 'operand':
    case 'variable':
    case 'constant':
      return [];
    case 'let':
      return [node.value, node.body];
    case 'unary':
    case 'convert':
    case 'test':
      return [node.x];
    case 'binary':
    case 'compare':
      return [node.left, node.right];
    case 'select':
      return [node.condition, node.whenTrue, node.whenFalse];
    case 'intrinsic':
      return node.operands;
    default:
      return node satisfies never;
  }
}
