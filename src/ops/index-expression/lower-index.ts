import { apply, type Expression, i32, local, select } from '../../wasm/expression.ts';
import { set, type Statement } from '../../wasm/statement.ts';
import type { ElementNode, IndexNode, OperationNode } from './expression.ts';

/** The place of code that index expressions are lowered to. */
interface IndexPlace {
  /** i32 by axis of the output. */
  readonly coordinates: readonly Expression[];
  /** The i32 of an element of an integer input, whose coordinates are given. */
  element(node: ElementNode, at: readonly Expression[]): Expression;
  /** Gets what is computed before the results. */
  readonly statements: Statement[];
}

/** Index expressions as i32 in WebAssembly, of conditions 0 or 1; each node is computed once. */
export class IndexLowering {
  readonly #place: IndexPlace;
  readonly #known = new Map<IndexNode, Expression>();

  constructor(place: IndexPlace) {
    this.#place = place;
  }

  /** For a branch: it knows what is known here, and what it computes is known in it alone. */
  fork(): IndexLowering {
    const inner = new IndexLowering(this.#place);
    for (const [node, value] of this.#known) inner.#known.set(node, value);
    return inner;
  }

  lower(node: IndexNode): Expression {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const made = this.#lower(node);
    const isSimple = made.kind === 'local' || made.kind === 'constant';
    const value = isSimple ? made : this.#bind(made);
    this.#known.set(node, value);
    return value;
  }

  #bind(value: Expression): Expression {
    const target = local('i32');
    this.#place.statements.push(set(target, value));
    return target;
  }

  #lower(node: IndexNode): Expression {
    switch (node.kind) {
      case 'coordinate':
        return this.#place.coordinates[node.axis] ?? i32(0);
      case 'constant':
      case 'parameter':
        return i32(node.value | 0);
      case 'element':
        return this.#place.element(
          node,
          node.operands.map((operand) => this.lower(operand)),
        );
      case 'operation':
        return this.#operation(node);
      default:
        return node satisfies never;
    }
  }

  #operation({ operator, operands }: OperationNode): Expression {
    const values = operands.map((operand) => this.lower(operand));
    const [a = i32(0), b = i32(0), c = i32(0)] = values;
    const sign = operands[0]?.type === 'i32' ? 's' : 'u';
    switch (operator) {
      case '+':
        return apply('i32.add', a, b);
      case '-':
        return apply('i32.sub', a, b);
      case '*':
        return apply('i32.mul', a, b);
      case '/':
      case '%':
        return this.#divide(operator, { a, b, sign });
      case '<':
        return apply(`i32.lt_${sign}`, a, b);
      case '<=':
        return apply(`i32.le_${sign}`, a, b);
      case '>=':
        return apply(`i32.ge_${sign}`, a, b);
      case '==':
        return apply('i32.eq', a, b);
      case '&':
        return values.reduce((all, value) => apply('i32.and', all, value));
      case 'min':
        return select(apply(`i32.lt_${sign}`, b, a), b, a);
      case 'abs':
        return select(apply('i32.lt_s', a, i32(0)), apply('i32.sub', i32(0), a), a);
      case 'clamp': {
        const raised = this.#bind(select(apply(`i32.lt_${sign}`, a, b), b, a));
        return select(apply(`i32.lt_${sign}`, c, raised), c, raised);
      }
      case 'select':
        return select(c, b, a);
      case 'u32':
      case 'i32':
      case 'bitcast<u32>':
        return a;
      default:
        return operator satisfies never;
    }
  }

  /** x / 0 is x and x % 0 is 0, both those by 1; the least integer / -1 is itself. */
  #divide(
    operator: '/' | '%',
    { a, b, sign }: { a: Expression; b: Expression; sign: 's' | 'u' },
  ): Expression {
    const name = operator === '/' ? 'div' : 'rem';
    if (b.kind === 'constant' && Number(b.value) > 0) return apply(`i32.${name}_${sign}`, a, b);
    const isZero = apply('i32.eqz', b);
    if (sign === 'u' || operator === '%') {
      return apply(`i32.${name}_${sign}`, a, select(isZero, i32(1), b));
    }
    const isMinus = apply('i32.eq', b, i32(-1));
    const safe = select(apply('i32.or', isZero, isMinus), i32(1), b);
    return select(isMinus, apply('i32.sub', i32(0), a), apply('i32.div_s', a, safe));
  }
}
