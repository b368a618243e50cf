import { type Value, wrapped } from './convert-value.ts';
import type { Formula, FormulaCall } from '../expression.ts';
import {
  childrenOf,
  type FunctionNode,
  type TypedExpression,
  typedFormula,
} from '../infer-types.ts';
import { isWideNode, numberFunction, wideFunction } from './node-function.ts';
import { isWideType, type ScalarType } from '../scalar-type.ts';

/** One element of the result from one of each operand; int64 and uint64 are bigints, bool 0 or 1. */
export type ElementFunction = (operands: readonly Value[]) => Value;

/** A formula element by element, for 64-bit integers and for scattered elements. */
export function elementFunction(formula: Formula, call: FormulaCall): ElementFunction {
  const evaluate = compiled(typedFormula(formula, call));
  // Each element sets all variables before it reads them.
  const variables = new Map<string, Value>();
  return (operands) => evaluate({ operands, variables });
}

interface Frame {
  readonly operands: readonly Value[];
  readonly variables: Map<string, Value>;
}

type Evaluate = (frame: Frame) => Value;

function compiled(node: TypedExpression): Evaluate {
  switch (node.kind) {
    case 'operand':
      return ({ operands }) => operands[node.index] ?? 0;
    case 'variable':
      return ({ variables }) => variables.get(node.name) ?? 0;
    case 'constant': {
      const value = constantValue(node.value, node.type);
      return () => value;
    }
    case 'let': {
      const [value, body] = [compiled(node.value), compiled(node.body)];
      return (frame) => {
        frame.variables.set(node.name, value(frame));
        return body(frame);
      };
    }
    default:
      return applied(node);
  }
}

function constantValue(value: number, type: ScalarType): Value {
  return isWideType(type) ? wrapped(BigInt(Math.trunc(value)), type) : value;
}

function applied(node: FunctionNode): Evaluate {
  const { type } = node;
  const [a = zero, b = zero, c = zero] = childrenOf(node).map(compiled);
  if (isWideNode(node)) {
    const apply = wideFunction(node);
    return (frame) => wrapped(apply(a(frame), b(frame), c(frame)), type);
  }
  const apply = numberFunction(node);
  return (frame) => wrapped(apply(Number(a(frame)), Number(b(frame)), Number(c(frame))), type);
}

const zero: Evaluate = () => 0;
