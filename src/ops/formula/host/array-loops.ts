import type { NumberArray } from '../../define-op.ts';
import type { BinaryOperator, CompareOperator, UnaryOperator } from '../expression.ts';
import { childrenOf, type FunctionNode, type TypedExpression } from '../infer-types.ts';
import { numberFunction } from './node-function.ts';
import { isFloatType } from '../scalar-type.ts';

type Values = NumberArray;

interface ArrayLoop {
  /** The arrays that it reads. */
  readonly nodes: readonly TypedExpression[];
  readonly run: (output: Values, ...values: readonly Values[]) => void;
}

/**
 * The loop that computes a node. JavaScript engines call a function for each element unless its text
 * stands in the loop: cheap nodes have loops of their own here.
 */
export function arrayLoop(node: FunctionNode): ArrayLoop {
  if (node.kind === 'select' && node.condition.kind === 'compare') {
    const { left, right, operator } = node.condition;
    if (operator === '<' && right.kind === 'constant' && isSameOperand(left, node.whenFalse)) {
      return { nodes: [left, node.whenTrue], run: replacing(right.value) };
    }
    const choose = CHOICES[operator];
    return {
      nodes: [left, right, node.whenTrue, node.whenFalse],
      run: (output, a = NONE, b = NONE, c = NONE, d = NONE) => choose(output, [a, b], [c, d]),
    };
  }
  return { nodes: childrenOf(node), run: textLoop(node) ?? callLoop(node) };
}

const NONE: Values = new Float64Array();

function textLoop(node: FunctionNode): ArrayLoop['run'] | undefined {
  switch (node.kind) {
    case 'binary':
      return (isFloatType(node.type) ? FLOAT_LOOPS : INTEGER_LOOPS)[node.operator];
    case 'compare':
      return COMPARE_LOOPS[node.operator];
    case 'select':
      return selectLoop;
    case 'unary':
      return UNARY_LOOPS[node.operator];
    case 'convert':
    case 'test':
    case 'intrinsic':
      return undefined;
    default:
      return node satisfies never;
  }
}

function callLoop(node: FunctionNode): ArrayLoop['run'] {
  const apply = numberFunction(node);
  if (childrenOf(node).length === 1) {
    return (output, x = NONE) => {
      for (let i = 0; i < output.length; i++) output[i] = apply(x[i] ?? 0, 0, 0);
    };
  }
  return (output, a = NONE, b = NONE) => {
    for (let i = 0; i < output.length; i++) output[i] = apply(a[i] ?? 0, b[i] ?? 0, 0);
  };
}

const UNARY_LOOPS: Readonly<Partial<Record<UnaryOperator, ArrayLoop['run']>>> = {
  neg(output, x = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = -(x[i] ?? 0);
  },
  abs(output, x = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = Math.abs(x[i] ?? 0);
  },
  floor(output, x = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = Math.floor(x[i] ?? 0);
  },
  sqrt(output, x = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = Math.sqrt(x[i] ?? 0);
  },
};

type BinaryLoops = Readonly<Partial<Record<BinaryOperator, ArrayLoop['run']>>>;

const SHARED_LOOPS: BinaryLoops = {
  add(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) + (b[i] ?? 0);
  },
  sub(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) - (b[i] ?? 0);
  },
  min(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = Math.min(a[i] ?? 0, b[i] ?? 0);
  },
  max(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = Math.max(a[i] ?? 0, b[i] ?? 0);
  },
};

const FLOAT_LOOPS: BinaryLoops = {
  ...SHARED_LOOPS,
  mul(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) * (b[i] ?? 0);
  },
  div(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) / (b[i] ?? 0);
  },
  rem(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) % (b[i] ?? 0);
  },
};

const INTEGER_LOOPS: BinaryLoops = {
  ...SHARED_LOOPS,
  mul(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = Math.imul(a[i] ?? 0, b[i] ?? 0);
  },
  and(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) & (b[i] ?? 0);
  },
};

const COMPARE_LOOPS: Readonly<Record<CompareOperator, ArrayLoop['run']>> = {
  '=='(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) === (b[i] ?? 0) ? 1 : 0;
  },
  '!='(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) === (b[i] ?? 0) ? 0 : 1;
  },
  '<'(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) < (b[i] ?? 0) ? 1 : 0;
  },
  '<='(output, a = NONE, b = NONE) {
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) <= (b[i] ?? 0) ? 1 : 0;
  },
};

function selectLoop(output: Values, condition = NONE, whenTrue = NONE, whenFalse = NONE): void {
  for (let i = 0; i < output.length; i++)
    output[i] = (condition[i] === 0 ? whenFalse[i] : whenTrue[i]) ?? 0;
}

function isSameOperand(a: TypedExpression, b: TypedExpression): boolean {
  return a.kind === 'operand' && b.kind === 'operand' && a.index === b.index;
}

/** Other values in place of those below a bound, as in relu. */
function replacing(bound: number): ArrayLoop['run'] {
  return (output, x = NONE, replacement = NONE) => {
    for (let i = 0; i < output.length; i++) {
      const value = x[i] ?? 0;
      output[i] = value < bound ? (replacement[i] ?? 0) : value;
    }
  };
}

type Pair = readonly [Values, Values];

/** A selection by a comparison, without an array for what the comparison gives. */
const CHOICES: Readonly<
  Record<CompareOperator, (output: Values, compared: Pair, chosen: Pair) => void>
> = {
  '==': (output, [a, b], [whenTrue, whenFalse]) => {
    for (let i = 0; i < output.length; i++)
      output[i] = (a[i] === b[i] ? whenTrue[i] : whenFalse[i]) ?? 0;
  },
  '!=': (output, [a, b], [whenTrue, whenFalse]) => {
    for (let i = 0; i < output.length; i++)
      output[i] = (a[i] === b[i] ? whenFalse[i] : whenTrue[i]) ?? 0;
  },
  '<': (output, [a, b], [whenTrue, whenFalse]) => {
    for (let i = 0; i < output.length; i++)
      output[i] = ((a[i] ?? 0) < (b[i] ?? 0) ? whenTrue[i] : whenFalse[i]) ?? 0;
  },
  '<=': (output, [a, b], [whenTrue, whenFalse]) => {
    for (let i = 0; i < output.length; i++)
      output[i] = ((a[i] ?? 0) <= (b[i] ?? 0) ? whenTrue[i] : whenFalse[i]) ?? 0;
  },
};
