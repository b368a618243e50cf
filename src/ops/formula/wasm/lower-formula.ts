import { internalError } from '../../../core/errors.ts';
import { apply, type Expression, f32x4 } from '../../../wasm/expression.ts';
import { type Bind, binder, type Statement } from '../../../wasm/statement.ts';
import type {
  BinaryNode,
  CompareNode,
  ConvertNode,
  TestNode,
  UnaryNode,
  IntrinsicName,
} from '../expression.ts';
import { findDouble, findIntrinsic } from './find-intrinsic.ts';
import { childrenOf, type FunctionNode, type TypedExpression } from '../infer-types.ts';
import {
  byElements,
  halved,
  isWideLanes,
  type Lanes,
  lanesName,
  mapLanes,
  narrowed,
  splat,
  widened,
  widenedMask,
} from './lanes.ts';
import { isFloatType, isSignedType, isWideType, type ScalarType } from '../scalar-type.ts';
import { floatRemainder, integerPower } from './wasm-rounds.ts';

type Typed<Node> = Extract<FunctionNode, Node>;

/**
 * A formula of 32-bit types over vectors of four elements: `operands` have an expression for each, which
 * is evaluated once for each use; the statements that come before the result are added to `statements`.
 */
export function lowerFormula(
  formula: TypedExpression,
  { operands, statements }: FormulaPlace,
): Expression {
  const lanes = { operands: operands.map((operand) => [operand]), statements };
  return lowerLanes(formula, lanes)[0] ?? missing('a result');
}

interface FormulaPlace {
  readonly operands: readonly Expression[];
  readonly statements: Statement[];
}

/** {@link lowerFormula} of types of 64 bits too. */
export function lowerLanes(formula: TypedExpression, { operands, statements }: LanesPlace): Lanes {
  return new FormulaLowering(operands, statements).lower(formula, new Map());
}

interface LanesPlace {
  readonly operands: readonly Lanes[];
  readonly statements: Statement[];
}

/** Returns true if {@link lowerLanes} accepts a formula. */
export function isLowered(node: TypedExpression): boolean {
  if (node.kind === 'binary' && node.operator === 'rem' && node.type === 'f64') return false;
  if (node.kind === 'intrinsic' && !isKnown(node.name, node.type)) return false;
  return childrenOf(node).every(isLowered);
}

function isKnown(name: IntrinsicName, type: ScalarType): boolean {
  if (type === 'f32') return findIntrinsic(name) !== undefined;
  return type === 'f64' ? findDouble(name) !== undefined : name === 'pow';
}

type Variables = ReadonlyMap<string, Lanes>;

class FormulaLowering {
  readonly #operands: readonly Lanes[];
  readonly #statements: Statement[];
  readonly #bindOne: Bind;

  constructor(operands: readonly Lanes[], statements: Statement[]) {
    this.#operands = operands;
    this.#statements = statements;
    this.#bindOne = binder(statements);
  }

  lower(node: TypedExpression, variables: Variables): Lanes {
    switch (node.kind) {
      case 'operand':
        return this.#operands[node.index] ?? missing('an operand');
      case 'variable':
        return variables.get(node.name) ?? missing(node.name);
      case 'constant': {
        const value = splat(node.type, node.value);
        return isWideLanes(node.type) ? [value, value] : [value];
      }
      case 'let': {
        const value = this.#bind(this.lower(node.value, variables));
        return this.lower(node.body, new Map([...variables, [node.name, value]]));
      }
      case 'unary':
        return this.#unary(node, variables);
      case 'binary':
        return this.#binary(node, variables);
      case 'compare':
        return this.#compare(node, variables);
      case 'select': {
        const [condition, whenTrue, whenFalse] = [
          this.lower(node.condition, variables),
          this.lower(node.whenTrue, variables),
          this.lower(node.whenFalse, variables),
        ];
        const mask = isWideLanes(node.type) ? this.#wideMask(condition) : condition;
        return mapLanes(choose, mask, whenTrue, whenFalse);
      }
      case 'convert':
        return this.#convert(node, variables);
      case 'test':
        return this.#test(node, variables);
      case 'intrinsic': {
        const lowered = node.operands.map((operand) => this.#bind(this.lower(operand, variables)));
        return this.#intrinsic(node.name, node.type, lowered);
      }
      default:
        return node satisfies never;
    }
  }

  /** The value in locals, unless using it again takes no more than one instruction. */
  #bind(value: Lanes): Lanes {
    return value.map(this.#bindOne);
  }

  #wideMask(condition: Lanes): Lanes {
    return widenedMask(this.#bindOne(condition[0] ?? missing('a condition')));
  }

  #intrinsic(name: IntrinsicName, type: ScalarType, operands: readonly Lanes[]): Lanes {
    const place = {
      bind: this.#bindOne,
      statements: this.#statements,
    };
    const compute = (...vectors: readonly Expression[]): Expression => {
      if (!isFloatType(type)) return integerPower(type, vectors, place);
      const computed =
        type === 'f32'
          ? findIntrinsic(name)?.(vectors, place.bind, place.statements)
          : findDouble(name)?.(vectors, place.bind);
      return computed ?? missing(`${name} of ${type}`);
    };
    return mapLanes(compute, ...operands);
  }

  #unary({ operator, type, x }: Typed<UnaryNode<TypedExpression>>, variables: Variables): Lanes {
    const value = this.lower(x, variables);
    if (operator === 'not') return mapLanes((part) => apply('v128.not', part), value);
    if (operator === 'abs' && !isSignedType(type)) return value;
    const name = operator === 'round' ? 'nearest' : operator;
    return mapLanes((part) => apply(`${lanesName(type)}.${name}`, part), value);
  }

  #binary(node: Typed<BinaryNode<TypedExpression>>, variables: Variables): Lanes {
    const { operator, type } = node;
    const [a, b] = [this.lower(node.left, variables), this.lower(node.right, variables)];
    const lanes = lanesName(type);
    const instruction = (name: string) => mapLanes((x, y) => apply(name, x, y), a, b);
    switch (operator) {
      case 'add':
      case 'sub':
      case 'mul':
        return instruction(`${lanes}.${operator}`);
      case 'min':
      case 'max':
        if (isWideType(type)) return this.#wideExtreme(operator, type, [a, b]);
        if (isFloatType(type)) return instruction(`${lanes}.${operator}`);
        return instruction(`${lanes}.${operator}_${type === 'u32' ? 'u' : 's'}`);
      case 'and':
      case 'or':
      case 'xor':
        return instruction(`v128.${operator}`);
      case 'div':
        return isFloatType(type) ? instruction(`${lanes}.div`) : this.#divide(a, b, type);
      case 'rem':
        if (type === 'f32') return this.#floatRemainder(a, b);
        return this.#remainder(a, b, type);
      case 'shl':
      case 'shr':
        return this.#shift(operator === 'shl' ? 'shl' : 'shr_u', type, [a, b]);
      default:
        return operator satisfies never;
    }
  }

  #wideExtreme(
    operator: 'min' | 'max',
    type: 'i64' | 'u64',
    [a, b]: readonly [Lanes, Lanes],
  ): Lanes {
    const [left, right] = [this.#bind(a), this.#bind(b)];
    const isLess = wideComparison('lt_s', type, [left, right]);
    const [lesser, greater] = operator === 'min' ? [left, right] : [right, left];
    return mapLanes(choose, isLess, lesser, greater);
  }

  #floatRemainder(a: Lanes, b: Lanes): Lanes {
    const operands = [...this.#bind(a), ...this.#bind(b)];
    return [
      floatRemainder(operands, {
        bind: this.#bindOne,
        statements: this.#statements,
      }),
    ];
  }

  /** Lane by lane. By 0 it is a; by -1 it is -a, which wraps where the instruction would trap. */
  #divide(a: Lanes, b: Lanes, type: ScalarType): Lanes {
    const [dividend, divisor] = [this.#bind(a), this.#bind(b)];
    const lanes = lanesName(type);
    const one = splat(type, 1);
    const is = (x: Expression, value: number) => apply(`${lanes}.eq`, x, splat(type, value));
    if (!isSignedType(type)) {
      const safe = this.#bind(mapLanes((x) => choose(is(x, 0), one, x), divisor));
      return byInstruction(type, 'div_u', dividend, safe);
    }
    const isMinus = this.#bind(mapLanes((x) => is(x, -1), divisor));
    const safe = this.#bind(
      mapLanes((x, minus) => choose(apply('v128.or', is(x, 0), minus), one, x), divisor, isMinus),
    );
    const quotient = byInstruction(type, 'div_s', dividend, safe);
    return mapLanes(
      (minus, x, y) => choose(minus, apply(`${lanes}.neg`, x), y),
      isMinus,
      dividend,
      quotient,
    );
  }

  /** By 0 it is 0, as by 1; the instruction gives 0 for the least integer by -1. */
  #remainder(a: Lanes, b: Lanes, type: ScalarType): Lanes {
    const divisor = this.#bind(b);
    const isZero = (x: Expression) => apply(`${lanesName(type)}.eq`, x, splat(type, 0));
    const safe = this.#bind(mapLanes((x) => choose(isZero(x), splat(type, 1), x), divisor));
    return byInstruction(type, isSignedType(type) ? 'rem_s' : 'rem_u', this.#bind(a), safe);
  }

  /** Instructions take the distance modulo the number of bits. */
  #shift(name: string, type: ScalarType, [a, b]: readonly [Lanes, Lanes]): Lanes {
    const distance = this.#bind(b);
    const shifted = byInstruction(type, name, this.#bind(a), distance);
    const limit = splat(type, isWideType(type) ? 64 : 32);
    const isWithin = isWideType(type)
      ? wideComparison('lt_s', 'u64', [distance, [limit, limit]])
      : mapLanes((x) => apply('i32x4.lt_u', x, limit), distance);
    return mapLanes((x, mask) => apply('v128.and', x, mask), shifted, isWithin);
  }

  #compare(
    { operator, left, right }: Typed<CompareNode<TypedExpression>>,
    variables: Variables,
  ): Lanes {
    const { type } = left;
    const [a, b] = [this.lower(left, variables), this.lower(right, variables)];
    const name = COMPARISONS[operator];
    const isOrdered = name === 'lt' || name === 'le';
    if (isWideType(type)) {
      const compared = wideComparison(isOrdered ? `${name}_s` : name, isOrdered ? type : 'i64', [
        a,
        b,
      ]);
      return [narrowed(compared)];
    }
    const sign = isOrdered && !isFloatType(type) ? (type === 'i32' ? '_s' : '_u') : '';
    const mask = mapLanes((x, y) => apply(`${lanesName(type)}.${name}${sign}`, x, y), a, b);
    return type === 'f64' ? [narrowed(mask)] : mask;
  }

  #convert({ type: to, x }: Typed<ConvertNode<TypedExpression>>, variables: Variables): Lanes {
    const from = x.type;
    const value = this.lower(x, variables);
    if (to === from) return value;
    if (to === 'bool') {
      const isSet = mapLanes((part) => apply(`${lanesName(from)}.ne`, part, splat(from, 0)), value);
      return isWideLanes(from) ? [narrowed(isSet)] : isSet;
    }
    if (from === 'bool') {
      if (isWideLanes(to)) {
        const one = splat(to, 1);
        return this.#wideMask(value).map((mask) => apply('v128.and', mask, one));
      }
      return mapLanes((mask) => apply('v128.and', mask, splat(to, 1)), value);
    }
    if (isFloatType(from))
      return isFloatType(to) ? this.#resize(from, value) : this.#truncate(from, to, value);
    return isFloatType(to) ? this.#toFloat(from, to, value) : this.#resizeInteger(from, to, value);
  }

  /** Converts between f32 and f64. */
  #resize(from: ScalarType, value: Lanes): Lanes {
    if (from === 'f64') return [halved('f32x4.demote_f64x2_zero', value)];
    return widened('f64x2.promote_low_f32x4', this.#bindOne(value[0] ?? NONE));
  }

  #resizeInteger(from: ScalarType, to: ScalarType, value: Lanes): Lanes {
    if (isWideType(from) === isWideType(to)) return value;
    if (isWideType(from)) return [narrowed(value)];
    const sign = from === 'u32' ? 'u' : 's';
    const [part = NONE] = this.#bind(value);
    return ['low', 'high'].map((half) => apply(`i64x2.extend_${half}_i32x4_${sign}`, part));
  }

  #toFloat(from: ScalarType, to: ScalarType, value: Lanes): Lanes {
    const sign = isSignedType(from) ? 's' : 'u';
    if (isWideType(from)) {
      const convert = (x: Expression) => apply(`${to}.convert_i64_${sign}`, x);
      return byElements({ from, to }, convert, this.#bind(value));
    }
    const [part = NONE] = value;
    if (to === 'f32') return [apply(`f32x4.convert_i32x4_${sign}`, part)];
    return widened(`f64x2.convert_low_i32x4_${sign}`, this.#bindOne(part));
  }

  /** Formulas saturate at the last float inside of the range, the instruction at its end. */
  #truncate(from: ScalarType, to: ScalarType, value: Lanes): Lanes {
    const sign = isSignedType(to) ? 's' : 'u';
    const digits = (isWideType(to) ? 64 : 32) - (sign === 's' ? 1 : 0);
    const above = Math.max(1, 2 ** (digits - (from === 'f64' ? 53 : 24)));
    const most = splat(from, 2 ** digits - above);
    const clamped = mapLanes((x) => apply(`${lanesName(from)}.min`, x, most), value);
    if (isWideType(to)) {
      const convert = (x: Expression) => apply(`i64.trunc_sat_${from}_${sign}`, x);
      return byElements({ from, to }, convert, this.#bind(clamped));
    }
    if (from === 'f64') return [halved(`i32x4.trunc_sat_f64x2_${sign}_zero`, clamped)];
    return mapLanes((x) => apply(`i32x4.trunc_sat_f32x4_${sign}`, x), clamped);
  }

  #test({ test, x }: Typed<TestNode<TypedExpression>>, variables: Variables): Lanes {
    const value = this.#bind(this.lower(x, variables));
    const lanes = lanesName(x.type);
    const mask = mapLanes(
      (part) =>
        test === 'nan'
          ? apply(`${lanes}.ne`, part, part)
          : apply(`${lanes}.eq`, part, splat(x.type, Infinity)),
      value,
    );
    return x.type === 'f64' ? [narrowed(mask)] : mask;
  }
}

/** Satisfies the type, in place of a vector that is always there. */
const NONE: Expression = f32x4(0);

const COMPARISONS = { '==': 'eq', '!=': 'ne', '<': 'lt', '<=': 'le' } as const;

const choose = (condition: Expression, whenTrue: Expression, whenFalse: Expression) =>
  apply('v128.bitselect', whenTrue, whenFalse, condition);

/** There are instructions for signed ones only: to invert the highest bit keeps the order of others. */
function wideComparison(name: string, type: 'i64' | 'u64', [a, b]: readonly [Lanes, Lanes]): Lanes {
  const ordered = (x: Expression) =>
    type === 'i64' ? x : apply('v128.xor', x, splat('i64', -(2 ** 63)));
  return mapLanes((x, y) => apply(`i64x2.${name}`, ordered(x), ordered(y)), a, b);
}

/** An instruction of integers that have none for vectors. */
function byInstruction(type: ScalarType, name: string, a: Lanes, b: Lanes): Lanes {
  const scalar = isWideType(type) ? 'i64' : 'i32';
  const compute = (...elements: readonly Expression[]) => apply(`${scalar}.${name}`, ...elements);
  return byElements({ from: type, to: type }, compute, a, b);
}

function missing(what: string): never {
  throw internalError(`a formula without ${what}`);
}
