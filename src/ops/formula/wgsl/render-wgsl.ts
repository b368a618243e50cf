import { internalError } from '../../../core/errors.ts';
import { wideDeclarations, type WideFunction } from '../../lowering/wide-integers.ts';
import { convertDeclarations, convertText } from './convert-wgsl.ts';
import type { BinaryNode, CompareNode, TestNode, UnaryNode } from '../expression.ts';
import type { TypedExpression } from '../infer-types.ts';
import { type Declarations, WGSL_INTRINSICS } from './intrinsics-wgsl.ts';
import { callLanewise, lanewise } from './lanewise.ts';
import { isWideType, type ScalarType } from '../scalar-type.ts';
import { NOT_A_NUMBER } from './transcendental-wgsl.ts';
import { wgslConstant, wgslType } from './wgsl-type.ts';

const OPERANDS = { parameters: ['a', 'b'] };

/** Exact: what remains after subtracting b times every power of two that fits, the largest first. */
const FLOAT_REMAINDER = `  let size = bitcast<u32>(a) & 0x7fffffffu;
  let divisor = bitcast<u32>(b) & 0x7fffffffu;
  if (size >= 0x7f800000u || divisor > 0x7f800000u || divisor < 0x800000u) { return nan_f32(); }
  var rest = abs(a);
  for (var n = i32(size >> 23u) - i32(divisor >> 23u); n >= 0; n--) {
    let part = bitcast<f32>(divisor + (u32(n) << 23u));
    if (rest >= part) { rest -= part; }
  }
  return select(rest, -rest, a < 0.0);`;

/** WGSL leaves a remainder by 0, and that of the least integer by -1, to the implementation. */
const INTEGER_REMAINDER = '  return a % select(b, 1, (b == 0) | (b == -1));';

/** `fmod_f32`, `fmod_i32` and `fmod_u32`: remainders with the sign of a, for numbers and vectors. */
const REMAINDERS: Readonly<Record<'f32' | 'i32' | 'u32', Readonly<Record<string, string>>>> = {
  f32: { ...NOT_A_NUMBER, ...lanewise('fmod', FLOAT_REMAINDER, OPERANDS) },
  i32: lanewise('fmod', INTEGER_REMAINDER, { ...OPERANDS, type: 'i32' }),
  u32: lanewise('fmod', '  return select(a % max(b, 1u), 0u, b == 0u);', {
    ...OPERANDS,
    type: 'u32',
  }),
};

export interface RenderOptions {
  readonly operands: readonly string[];
  /** 1, or 4 when operands are vectors; of 64-bit integers always 1. */
  readonly width: 1 | 4;
  /** Writes `let name = expression;` for a name of its own, which it returns. */
  readonly bind: (expression: string) => string;
  /** Takes a function that the expression calls. Called again for each call. */
  readonly declare: (name: string, text: string) => void;
}

export function renderWgsl(expression: TypedExpression, options: RenderOptions): string {
  return new WgslRenderer(options).render(expression, new Map());
}

type Typed<N> = N & { readonly type: ScalarType };
type Names = ReadonlyMap<string, string>;

class WgslRenderer {
  readonly #options: RenderOptions;

  constructor(options: RenderOptions) {
    this.#options = options;
  }

  render(node: TypedExpression, names: Names): string {
    const { operands, width, bind } = this.#options;
    switch (node.kind) {
      case 'operand':
        return operands[node.index] ?? missing(`operand ${node.index}`);
      case 'variable':
        return names.get(node.name) ?? missing(node.name);
      case 'constant':
        return wgslConstant(node.value, node.type, width);
      case 'let': {
        const name = bind(this.render(node.value, names));
        return this.render(node.body, new Map([...names, [node.name, name]]));
      }
      case 'unary':
        return this.#unary(node, names);
      case 'binary':
        return this.#binary(node, names);
      case 'compare':
        return this.#compare(node, names);
      case 'select': {
        const condition = this.render(node.condition, names);
        const whenTrue = this.render(node.whenTrue, names);
        return `select(${this.render(node.whenFalse, names)}, ${whenTrue}, ${condition})`;
      }
      case 'convert': {
        const conversion = { from: node.x.type, to: node.type, width };
        this.#declare(convertDeclarations(conversion));
        return convertText(this.#named(node.x, names), conversion);
      }
      case 'test':
        return this.#test(node, names);
      case 'intrinsic': {
        const values = node.operands.map((operand) => this.#named(operand, names));
        const { type } = node;
        const call = WGSL_INTRINSICS[node.name]({ operands: values, type, width });
        this.#declare(call.declarations);
        return call.text;
      }
      default:
        return node satisfies never;
    }
  }

  #declare(declarations: Declarations): void {
    for (const [name, text] of Object.entries(declarations)) this.#options.declare(name, text);
  }

  #wide(name: WideFunction, ...operands: readonly string[]): string {
    this.#declare(wideDeclarations(name));
    return `${name}(${operands.join(', ')})`;
  }

  /** A name for a value that is written more than once. */
  #named(node: TypedExpression, names: Names): string {
    return this.#nameOf(node, this.render(node, names));
  }

  #nameOf(node: TypedExpression, text: string): string {
    return node.kind === 'constant' || /^\w+$/.test(text) ? text : this.#options.bind(text);
  }

  #unary({ operator, type, x }: Typed<UnaryNode<TypedExpression>>, names: Names): string {
    const text = this.render(x, names);
    switch (operator) {
      case 'neg':
        return isWideType(type) ? this.#wide('wide_neg', text) : `(-${text})`;
      case 'not':
        return type === 'bool' ? `(!${text})` : `(~${text})`;
      case 'abs':
        if (type === 'i64') return this.#wide('i64_abs', text);
        return type === 'u64' ? text : `abs(${text})`;
      case 'floor':
      case 'ceil':
      case 'trunc':
      case 'round':
      case 'sqrt':
        return `${operator}(${text})`;
      default:
        return operator satisfies never;
    }
  }

  #binary(node: Typed<BinaryNode<TypedExpression>>, names: Names): string {
    const { operator, type, left, right } = node;
    if (operator === 'min' || operator === 'max') return this.#extremum(node, names);
    const a = this.render(left, names);
    const b = this.render(right, names);
    switch (operator) {
      case 'add':
      case 'sub':
      case 'mul':
        return isWideType(type)
          ? this.#wide(`wide_${operator}`, a, b)
          : `(${a} ${SIGNS[operator]} ${b})`;
      case 'div':
        return isWideType(type) ? this.#wide(`${type}_div`, a, b) : `(${a} / ${b})`;
      case 'rem':
        return this.#remainder(a, b, type);
      case 'and':
      case 'or':
        return `(${a} ${SIGNS[operator]} ${b})`;
      case 'xor':
        return `(${a} ${type === 'bool' ? '!=' : '^'} ${b})`;
      case 'shl':
      case 'shr':
        return this.#shift(a, this.#nameOf(right, b), node);
      default:
        return operator satisfies never;
    }
  }

  #remainder(a: string, b: string, type: ScalarType): string {
    if (isWideType(type)) return this.#wide(`${type}_rem`, a, b);
    if (type === 'bool' || type === 'f64') throw internalError(`remainder of ${type}`);
    this.#declare(REMAINDERS[type]);
    return callLanewise(`fmod_${type}`, [a, b], this.#options.width);
  }

  /** WGSL takes the distance modulo 32. */
  #shift(a: string, b: string, node: Typed<BinaryNode<TypedExpression>>): string {
    const { operator, type } = node;
    if (type === 'u64') {
      const name = operator === 'shl' ? 'wide_shl' : 'u64_shr';
      return this.#wide(name, a, `select(${b}.x, 64u, ${b}.y > 0u)`);
    }
    if (type !== 'u32') throw internalError(`shift of ${type}`);
    const words = wgslType(type, this.#options.width);
    const shifted = `${a} ${operator === 'shl' ? '<<' : '>>'} (${b} & ${words}(31u))`;
    return `select(${words}(), ${shifted}, ${b} < ${words}(32u))`;
  }

  /** WGSL's `max` and `min` may give the other operand where one is NaN. */
  #extremum(node: Typed<BinaryNode<TypedExpression>>, names: Names): string {
    const { type, left, right } = node;
    const name = node.operator === 'max' ? 'max' : 'min';
    const a = this.#named(left, names);
    const b = this.#named(right, names);
    if (isWideType(type)) {
      const [low, high] = name === 'max' ? [a, b] : [b, a];
      return `select(${a}, ${b}, ${this.#wide(`${type}_lt`, low, high)})`;
    }
    if (type !== 'f32') return `${name}(${a}, ${b})`;
    // A constant is no NaN.
    if (right.kind === 'constant') {
      return `select(${a}, ${b}, ${a} ${name === 'max' ? '<' : '>'} ${b})`;
    }
    this.#declare(EXTREMA[name]);
    return callLanewise(`${name}_f32`, [a, b], this.#options.width);
  }

  #compare({ operator, left, right }: CompareNode<TypedExpression>, names: Names): string {
    const { type } = left;
    // The sign takes no function, so that what is computed with it costs little.
    const isSign = operator === '<' && right.kind === 'constant' && right.value === 0;
    if (isSign && type === 'i64') return `(${this.#named(left, names)}.y >> 31u == 1u)`;
    const a = this.render(left, names);
    const b = this.render(right, names);
    if (!isWideType(type)) return `(${a} ${operator} ${b})`;
    switch (operator) {
      case '==':
        return this.#wide('wide_eq', a, b);
      case '!=':
        return `(!${this.#wide('wide_eq', a, b)})`;
      case '<':
        return this.#wide(`${type}_lt`, a, b);
      case '<=':
        return `(!${this.#wide(`${type}_lt`, b, a)})`;
      default:
        return operator satisfies never;
    }
  }

  #test({ test, x }: TestNode<TypedExpression>, names: Names): string {
    const words = wgslType('u32', this.#options.width);
    const bits = `bitcast<${words}>(${this.render(x, names)})`;
    const infinity = `${words}(0x7f800000u)`;
    switch (test) {
      case 'nan':
        return `((${bits} & ${words}(0x7fffffffu)) > ${infinity})`;
      case '+infinity':
        return `(${bits} == ${infinity})`;
      default:
        return test satisfies never;
    }
  }
}

const SIGNS = { add: '+', sub: '-', mul: '*', and: '&', or: '|' } as const;

function missing(what: string): never {
  throw internalError(`a formula without ${what}`);
}

const EXTREMA = { max: extremum('max', '>'), min: extremum('min', '<') };

function extremum(name: string, sign: string): Declarations {
  const text = (type: string, words: string, suffix: string) =>
    `fn ${name}_f32${suffix}(a: ${type}, b: ${type}) -> ${type} {\n` +
    `  let is_nan = (bitcast<${words}>(b) & ${words}(0x7fffffffu)) > ${words}(0x7f800000u);\n` +
    `  return select(a, b, (b ${sign} a) | is_nan);\n}`;
  return {
    [`${name}_f32`]: text('f32', 'u32', ''),
    [`${name}_f32x4`]: text('vec4<f32>', 'vec4<u32>', 'x4'),
  };
}
