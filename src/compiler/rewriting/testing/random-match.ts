import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Attributes, AttributeValue } from '../../../core/contracts/primitive-function.ts';
import type { AttributeSpec } from '../../../ops/define-op.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { call, constant, func, moduleOf, tuple, variable } from '../../ir/build.ts';
import type { CallExpr, Expr, Module, VarExpr } from '../../ir/expr.ts';
import { postOrder } from '../../ir/walk/visit.ts';
import type {
  AttributePattern,
  CallPattern,
  ConstantPattern,
  ExprPattern,
  NumberPattern,
  TypePattern,
} from '../expr-pattern.ts';
import type { RewriteRule } from '../rewrite-rule.ts';

/** A program around an expression that a rule is likely, but need not, apply to. */
interface RandomMatch {
  readonly module: Module;
  readonly params: readonly VarExpr[];
}

const DTYPES: readonly DType[] = [
  'float32',
  'float16',
  'float64',
  'int32',
  'int8',
  'uint8',
  'bool',
];
const WRAPPERS = ['relu', 'abs', 'neg', 'exp', 'tanh'];
const MAX_RANK = 4;

/**
 * A random expression that the pattern of a rule is read from: operands and attributes are drawn until
 * the operators accept them. Undefined where that fails, which shapes drawn apart often do.
 */
export function randomMatch(rule: RewriteRule, random: () => number): RandomMatch | undefined {
  const writer = new MatchWriter(rule, random);
  const root = writer.write(rule.pattern);
  if (root === undefined) return undefined;
  // Now and then something else reads a value that a rule may want for itself.
  const inner = postOrder(root).filter((expr) => expr.kind === 'call');
  const body = writer.chance(0.2) ? tuple([root, writer.pick(inner)]) : tuple([root]);
  return { module: moduleOf({ main: func(writer.params, body) }), params: writer.params };
}

class MatchWriter {
  readonly params: VarExpr[] = [];
  readonly #random: () => number;
  readonly #wanted: Readonly<Record<string, TypePattern>>;
  readonly #types = new TypeInference();
  readonly #exprs = new Map<string, Expr>();
  readonly #dtype: DType;
  readonly #shape: readonly number[];
  /** Constants are vectors with a number for each channel. */
  readonly #isByChannel: boolean;

  constructor({ types = {} }: RewriteRule, random: () => number) {
    this.#random = random;
    this.#wanted = types;
    const wanted = Object.values(types);
    this.#dtype = this.pick(wanted.find(({ dtypes }) => dtypes !== undefined)?.dtypes ?? DTYPES);
    const ranks = wanted.flatMap(({ rank }) => (rank === undefined ? [] : [rank]));
    const rank = ranks[0] ?? (this.chance(0.4) ? MAX_RANK : this.#below(MAX_RANK));
    // Sizes that are all the same are what products of any operands accept.
    const size = 1 + this.#below(4);
    const isEven = this.chance(0.6);
    this.#isByChannel = this.chance(0.3);
    this.#shape = Array.from({ length: rank }, () => (isEven ? size : 1 + this.#below(3)));
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.#below(list.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  write(pattern: ExprPattern, dtypes?: readonly DType[]): Expr | undefined {
    switch (pattern.kind) {
      case 'any':
        return this.#named(pattern.name, () => this.#operand(pattern.name, dtypes));
      case 'constant':
        return this.#named(pattern.name, () => this.#constant(pattern, dtypes));
      case 'either':
        return this.write(this.pick(pattern.patterns), dtypes);
      case 'call':
        return this.#named(pattern.name, () => this.#call(pattern));
      default:
        return pattern satisfies never;
    }
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #named(name: string | undefined, write: () => Expr | undefined): Expr | undefined {
    const known = name === undefined ? undefined : this.#exprs.get(name);
    const expr = known ?? write();
    if (name !== undefined && expr !== undefined) this.#exprs.set(name, expr);
    return expr;
  }

  /** A parameter, or what something makes of one. */
  #operand(name: string, dtypes: readonly DType[] | undefined): Expr {
    const param = this.#parameter(this.#dtypeFor(dtypes, this.#wanted[name]?.dtypes));
    const wrapped = this.chance(0.3) ? this.#typed(call(this.pick(WRAPPERS), [param])) : undefined;
    return wrapped ?? param;
  }

  #parameter(dtype: DType): VarExpr {
    const param = variable(`v${this.params.length}`, dtype, this.#nearShape());
    this.params.push(param);
    return param;
  }

  #dtypeFor(...allowed: readonly (readonly DType[] | undefined)[]): DType {
    const fits = (dtype: DType): boolean =>
      allowed.every((dtypes) => dtypes === undefined || dtypes.includes(dtype));
    const others = DTYPES.filter(fits);
    return fits(this.#dtype) || others.length === 0 ? this.#dtype : this.pick(others);
  }

  /** The shape of most operands, or one that broadcasts to it. */
  #nearShape(): number[] {
    if (this.chance(0.8)) return this.#shape.slice();
    const cut = this.#shape.slice(this.#below(this.#shape.length + 1));
    return cut.map((size) => (this.chance(0.3) ? 1 : size));
  }

  #constant({ value, isSingle }: ConstantPattern, dtypes: readonly DType[] | undefined): Expr {
    const dtype = this.#dtypeFor(dtypes);
    const ones = Array.from({ length: this.#below(this.#shape.length + 1) }, () => 1);
    const number = (): number => (value === undefined ? this.#number() : this.#like(value));
    if (isSingle === true) return constant(HostTensor.from(dtype, ones, [number()]));
    const shape =
      this.#isByChannel && value === undefined
        ? [this.#shape[1] ?? 1]
        : this.pick([ones, this.#shape, this.#nearShape()]);
    if (value !== undefined) return constant(HostTensor.splat(dtype, shape, number()));
    const count = shape.reduce((product, size) => product * size, 1);
    return constant(HostTensor.from(dtype, shape, Array.from({ length: count }, number)));
  }

  #number(): number {
    return 0.25 + this.#below(8) / 4;
  }

  #like(value: NumberPattern): number {
    if ('equal' in value) return value.equal;
    if ('near' in value) return value.near * (1 + (this.#random() - 0.5) * 1e-6);
    return this.pick([value.atMost, value.atMost * 10, -Infinity]);
  }

  /** Some operands and attributes that the operator accepts. */
  #call(pattern: CallPattern): Expr | undefined {
    const { inputs } = CORE_OPERATORS.require(pattern.op);
    const args: Expr[] = [];
    for (const [i, each] of pattern.args.entries()) {
      const arg = this.write(each, inputs[Math.min(i, inputs.length - 1)]?.dtypes);
      if (arg === undefined) return undefined;
      args.push(arg);
    }
    if (pattern.isVariadic === true) args.push(...this.#further(args[0]));
    if (pattern.isCommutative === true && this.chance(0.5)) args.reverse();
    for (let attempt = 0; attempt < 40; attempt++) {
      const found = this.#typed(call(pattern.op, args, this.#attributes(pattern, args)));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #further(like: Expr | undefined): Expr[] {
    const type = like && this.#types.of(like);
    const dtype = type?.kind === 'tensor' ? type.dtype : this.#dtype;
    return Array.from({ length: this.#below(20) }, () => this.#parameter(dtype));
  }

  /** The call, if its operator takes it. */
  #typed(expr: CallExpr): Expr | undefined {
    try {
      this.#types.of(expr);
      return expr;
    } catch {
      return undefined;
    }
  }

  #attributes({ op, attributes: patterns = {} }: CallPattern, args: readonly Expr[]): Attributes {
    const type = args[0] && this.#types.of(args[0]);
    const shape = type?.kind === 'tensor' ? type.shape.map(Number) : [];
    const attributes: Record<string, AttributeValue> = {};
    for (const [name, spec] of Object.entries(CORE_OPERATORS.require(op).attributes)) {
      const pattern = patterns[name];
      const isFree = pattern === undefined || pattern.isOptional === true;
      if (isFree && spec.default !== undefined && this.chance(0.5)) continue;
      attributes[name] = this.#attribute(spec, pattern, shape);
    }
    return attributes;
  }

  #attribute(
    spec: AttributeSpec,
    pattern: AttributePattern | undefined,
    shape: readonly number[],
  ): AttributeValue {
    const rank = shape.length;
    if (pattern?.oneOf !== undefined) return this.pick(pattern.oneOf);
    if (pattern?.every !== undefined) {
      const length = this.pick([rank, 2 * rank, Math.max(rank - 2, 0)]);
      return Array.from({ length }, () => pattern.every ?? 0);
    }
    switch (spec.type) {
      case 'int':
        return this.#below(rank + 1) - this.#below(2);
      case 'float':
        return this.pick([0, 0.5, -1, -Infinity]);
      case 'bool':
        return this.chance(0.5);
      case 'dtype':
        return this.pick([this.#dtype, ...DTYPES]);
      case 'string':
        return this.pick(spec.oneOf ?? ['']);
      default:
        return this.#list(shape);
    }
  }

  /** Lists that operators take: axes in an order, sizes, an axis, numbers for some axes. */
  #list(shape: readonly number[]): number[] {
    const rank = shape.length;
    const small = (length: number): number[] =>
      Array.from({ length: Math.max(length, 0) }, () => this.#below(3));
    const order = shape.map((_, axis) => axis).sort(() => this.#random() - 0.5);
    const outer = this.chance(0.5) ? [0, 0, ...small(rank - 2)] : small(rank);
    return this.pick<number[]>([
      order,
      shape.slice(),
      [...shape, 1],
      shape.toReversed(),
      [shape.reduce((product, size) => product * size, 1)],
      [rank - 1],
      [-1],
      shape.map(() => 0),
      outer.length === rank ? [...outer, ...outer] : small(2 * rank),
      Array.from({ length: Math.max(rank - 2, 0) }, () => 1 + this.#below(3)),
    ]);
  }
}
