import { Environment, Interpreter, Template } from '@huggingface/jinja';
import { FormatError } from '../../../core/errors.ts';

/** What a template throws by `raise_exception`. */
export class Refusal extends Error {}

/** Steps of one conversation, and characters and elements that it makes: templates of real models come nowhere near. */
const MOST_WORK = 2_000_000;
/** Characters and elements that are read as quickly as a step is taken. */
const STEP_CHARACTERS = 64;
/** Steps of a turn of a loop, and of a call of a macro: each has variables of its own. */
const TURN_STEPS = 10;
/** Letters of a template, and blanks side by side, which the package reads again from each of them. */
const MAX_LENGTH = 2 ** 18;
const LONG_BLANK = /\s{1000}/;
/** Stands first in the bodies of loops and macros. */
const TURN: JinjaNode = { type: 'Comment', value: '' };

/**
 * A Jinja template, in which undefined variables are what they are in Jinja2, and which ends: each node that is evaluated counts, and
 * what it makes. Throws SyntaxError where it cannot be read, FormatError for a very long one; `render` throws {@link Refusal}, FormatError for one that goes on and on,
 * and Error where it cannot be run.
 */
export class JinjaTemplate {
  readonly #program: Template['parsed'];
  readonly #where: string;

  constructor(where: string, source: string) {
    if (source.length > MAX_LENGTH || LONG_BLANK.test(source)) {
      const got = `${source.length} letters, or 1000 blanks side by side`;
      throw new FormatError({
        where,
        got,
        expected: `at most ${MAX_LENGTH} letters, and fewer blanks`,
      });
    }
    this.#program = new Template(source).parsed;
    this.#where = where;
    makeLenient(this.#program);
  }

  render(variables: Readonly<Record<string, unknown>>): string {
    const meter = new Meter(this.#where);
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, range: meter.range, ...variables })) {
      environment.set(name, value);
    }
    return new MeteredInterpreter(environment, meter).run(this.#program).value as string;
  }
}

const GLOBALS = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception: (reason: unknown = 'no reason'): never => {
    throw new Refusal(String(reason));
  },
  strftime_now: (format: string): string =>
    new Template('{{ strftime_now(format) }}').render({ format }),
};

/** Counts what a template does. Throws FormatError where that is too much. */
class Meter {
  readonly #where: string;
  #work = 0;

  constructor(where: string) {
    this.#where = where;
  }

  spend(count: number): void {
    this.#work += count;
    if (this.#work <= MOST_WORK) return;
    const got = `more than ${MOST_WORK} steps`;
    throw new FormatError({ where: this.#where, got, expected: 'a template that ends' });
  }

  readonly range = (first: number, end?: number, step = 1): number[] => {
    const begin = end === undefined ? 0 : first;
    const length = Math.max(0, Math.ceil(((end ?? first) - begin) / step));
    this.spend(length);
    return Array.from({ length }, (_, i) => begin + i * step);
  };
}

/** A value of @huggingface/jinja; only what is read here. */
interface JinjaValue {
  readonly type: string;
  readonly value: unknown;
}

class MeteredInterpreter extends Interpreter {
  readonly #meter: Meter;
  /** Of lists and objects, which do not change. */
  readonly #sizes = new WeakMap<JinjaValue, number>();

  constructor(environment: Environment, meter: Meter) {
    super(environment);
    this.#meter = meter;
  }

  override evaluate(...call: Parameters<Interpreter['evaluate']>) {
    const made = super.evaluate(...call);
    const { value } = made;
    const type = call[0]?.type ?? '';
    let size = call[0] === TURN ? TURN_STEPS : 0;
    if (this.#sizeOf(made) > MOST_WORK) this.#meter.spend(MOST_WORK);
    if (typeof value === 'string' || Array.isArray(value)) {
      const isNew = typeof value !== 'string' && MAKES.has(type);
      size = isNew ? value.length : Math.ceil(value.length / STEP_CHARACTERS);
    }
    this.#meter.spend(1 + size);
    return made;
  }

  /** How many values a value is when it is written out: one may be in another twice. Namespaces change, and may be in none. */
  #sizeOf(made: JinjaValue): number {
    const { type, value } = made;
    if (!Array.isArray(value) && !(value instanceof Map)) return 1;
    let size = this.#sizes.get(made) ?? 0;
    if (size > 0) return size;
    for (const part of value.values() as Iterable<JinjaValue>) {
      size += part.type === 'NamespaceValue' ? Number.POSITIVE_INFINITY : this.#sizeOf(part);
    }
    if (type !== 'NamespaceValue') this.#sizes.set(made, 1 + size);
    return 1 + size;
  }
}

/** Nodes that give new lists; others give those that are there. */
const MAKES: ReadonlySet<string> = new Set([
  'ArrayLiteral',
  'BinaryExpression',
  'CallExpression',
  'FilterExpression',
  'MemberExpression',
]);

/** A node of @huggingface/jinja's syntax tree; only what is read here. */
interface JinjaNode {
  type?: string;
  value?: unknown;
  iterable?: JinjaNode;
  lhs?: JinjaNode;
  left?: JinjaNode;
  right?: JinjaNode;
  operator?: { readonly value: string };
  operand?: JinjaNode;
  filter?: JinjaNode;
  callee?: JinjaNode;
  body?: JinjaNode[];
}

/** Filters that take an undefined value as no text, and as no items. */
const TEXT_FILTERS = /^(length|trim|upper|lower|title|capitalize|string|replace|indent|safe)$/;
const LIST_FILTERS =
  /^(join|list|items|first|last|map|select|reject|selectattr|rejectattr|sort|unique|reverse|dictsort)$/;

/**
 * Changes the tree of a template so that undefined variables are what they are in Jinja2, where @huggingface/jinja throws: they
 * print nothing, are looped over zero times, and are no part of anything. Turns begin with {@link TURN}.
 */
function makeLenient(tree: unknown): void {
  if (typeof tree !== 'object' || tree === null) return;
  for (const part of Object.values(tree)) makeLenient(part);
  const node = tree as JinjaNode;
  if (node.type === 'For' && node.iterable) {
    const { iterable } = node;
    if (iterable.type === 'SelectExpression' && iterable.lhs)
      iterable.lhs = orElse(iterable.lhs, []);
    else node.iterable = orElse(iterable, []);
  }
  if (node.type === 'BinaryExpression' && node.left && node.right) {
    const operator = node.operator?.value ?? '';
    if (/^(~|in|not in)$/.test(operator)) node.left = orElse(node.left, '');
    if (operator === '~') node.right = orElse(node.right, '');
  }
  if (node.type === 'FilterExpression' && node.operand) {
    const name = String((node.filter?.callee ?? node.filter)?.value);
    if (TEXT_FILTERS.test(name)) node.operand = orElse(node.operand, '');
    if (LIST_FILTERS.test(name)) node.operand = orElse(node.operand, []);
  }
  if (node.type === 'For' || node.type === 'Macro') node.body?.unshift(TURN);
}

/** `x | default(value)`. */
function orElse(operand: JinjaNode, value: '' | readonly []): JinjaNode {
  const literal = { type: value === '' ? 'StringLiteral' : 'ArrayLiteral', value };
  const callee = { type: 'Identifier', value: 'default' };
  const filter: object = { type: 'CallExpression', callee, args: [literal] };
  return { type: 'FilterExpression', operand, filter };
}
