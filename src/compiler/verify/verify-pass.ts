import { forEachSymbol } from '../../core/dims/dim-symbols.ts';
import { CompileLimitError } from '../../core/errors.ts';
import type { Operators } from '../../ops/operators.ts';
import { tensorSymbols } from '../inference/declarations.ts';
import { describeExpr } from '../inference/checks/describe-expr.ts';
import { ShapeNeeds } from '../inference/sizes/shape-needs.ts';
import { TypeInference } from '../inference/type-inference.ts';
import { BlockTable, innerBlocks } from '../ir/walk/block.ts';
import {
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Module,
  spanOf,
  type VarExpr,
  type CallExpr,
} from '../ir/expr.ts';
import { KILL, ALLOC_STORAGE, ALLOC_TENSOR } from '../ir/operators/machine-operators.ts';
import { isUnplaced } from '../ir/place.ts';
import { FLOAT, DIM, SCALAR_OPERATORS } from '../ir/operators/scalar-operators.ts';
import { runTask, sub, type Task } from '../ir/task.ts';
import { postOrder, variablesOf } from '../ir/walk/visit.ts';
import { operatorName, isOperatorCall } from '../ir/operators/operator-name.ts';
import { isPassName } from '../passes/pass-names.ts';
import { verifyModule } from './verify-module.ts';
import { isElaborated } from '../inference/elaborate.ts';
import { isAtom } from '../ir/walk/atoms.ts';
import { VIEW_OPERATOR } from '../ir/host-values.ts';
import { isFlatMatch } from '../passes/match/flatten-match.ts';

/** A rule that holds for every module from a pass on. */
interface Invariant {
  /** The pass that makes it true. */
  readonly since: string;
  readonly says: string;
  /** The expression that breaks the rule, of those outside of primitive functions. */
  readonly broken?: (expr: Expr, operators: Operators) => boolean;
  readonly brokenBy?: (module: Module) => boolean;
}

const INVARIANTS: readonly Invariant[] = [
  {
    since: 'infer-types',
    says: 'every variable, result and call has its types',
    brokenBy: (module) => !isElaborated(module),
  },
  {
    since: 'fuse',
    says: 'operators on tensors are called in primitive functions',
    broken: (expr, operators) => isTensorCall(expr, operators),
  },
  {
    since: 'to-anf',
    says: 'operands are atoms',
    broken: (expr) => !operandsOf(expr).every(isAtom),
  },
  {
    since: 'to-anf',
    says: 'no let is the value of another',
    broken: (expr) => expr.kind === 'let' && expr.value.kind === 'let',
  },
  {
    since: 'lower-match',
    says: 'a pattern has one constructor',
    broken: (expr) => expr.kind === 'match' && !isFlatMatch(expr),
  },
  {
    since: 'allocate-adt-tags',
    says: 'every constructor has a tag',
    brokenBy: ({ types }) =>
      [...types.values()].some((type) => type.constructors.some(({ tag }) => tag === undefined)),
  },
  {
    since: 'lambda-lift',
    says: 'functions inside others are primitive',
    broken: (expr) => expr.kind === 'function' && expr.attributes.primitive === undefined,
  },
  {
    since: 'plan-memory',
    says: 'kernels whose result has a known size are called with a destination',
    broken: (expr, operators) =>
      expr.kind === 'call' && expr.callee.kind === 'function' && !isDynamic(expr.callee, operators),
  },
  {
    since: 'lower-shapes',
    says: 'sizes come from the shape heap',
    broken: (expr) => expr.kind === 'call' && needsSize(expr),
  },
];

/** A rule of a finished pass that a module breaks, and where; undefined when there is none. */
function brokenInvariant(
  module: Module,
  { passes, operators }: { readonly passes: ReadonlySet<string>; readonly operators: Operators },
): string | undefined {
  const rules = INVARIANTS.filter(({ since }) => passes.has(since));
  const broken = rules.find(({ brokenBy }) => brokenBy?.(module) === true);
  if (broken !== undefined) return broken.says;
  for (const [name, fn] of module.functions) {
    const enter = (expr: Expr): boolean => !isAtom(expr);
    for (const expr of postOrder(fn.body, enter)) {
      const rule = rules.find((one) => one.broken?.(expr, operators) === true);
      if (rule === undefined) continue;
      return `${formatSpan(spanOf(expr), `@${name}, a ${expr.kind}`)}: ${rule.says}`;
    }
  }
  return undefined;
}

function isTensorCall(expr: Expr, operators: Operators): boolean {
  if (!isOperatorCall(expr)) return false;
  const { name } = expr.callee;
  return operators.get(name) !== undefined && !SCALAR_OPERATORS.has(name) && name !== VIEW_OPERATOR;
}

/** Returns true if a kernel allocates its result itself. */
function isDynamic({ body }: FunctionExpr, operators: Operators): boolean {
  return isOperatorCall(body) && operators.isDynamic(body.callee.name);
}

/** The operands of an expression, without branches and bodies. */
function operandsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'call':
      return expr.callee.kind === 'function' ? expr.args : [...expr.args, expr.callee];
    case 'tuple':
      return expr.fields;
    case 'projection':
      return [expr.tuple];
    case 'if':
      return [expr.condition];
    case 'match':
      return [expr.value];
    default:
      return [];
  }
}

/**
 * Returns true if a call needs sizes that none of its operands has yet: an allocation of a symbolic
 * size, or `dim`.
 */
function needsSize({ callee, args, attributes }: CallExpr): boolean {
  if (callee.kind !== 'operator') return false;
  if (callee.name === DIM) return true;
  if (callee.name !== ALLOC_STORAGE && callee.name !== ALLOC_TENSOR) return false;
  const dims = attributes[callee.name === ALLOC_STORAGE ? 'bytes' : 'shape'];
  const isKnown = !Array.isArray(dims) || dims.every((dim) => typeof dim === 'number');
  return !isKnown && args.length === (callee.name === ALLOC_STORAGE ? 0 : 1);
}

/** Operators whose calls cannot fail. */
const SAFE: ReadonlySet<string> = new Set([KILL, FLOAT]);

/**
 * The first expression that can fail when the program runs and has no place in a source, with the global
 * function it stands in; undefined when there is none.
 */
export function unplacedExpression(
  module: Module,
): { readonly name: string; readonly expr: Expr } | undefined {
  for (const [name, { body }] of module.functions) {
    const expr = postOrder(body).find((inner) => isUnplaced(inner) && !isSafe(inner));
    if (expr !== undefined) return { name, expr };
  }
  return undefined;
}

function isSafe(expr: Expr): boolean {
  return SAFE.has(operatorName(expr));
}

/**
 * Checks what each pass has made of a module: that it is well-formed and well-typed, and that every rule holds
 * which a pass before has made true. Where all that can fail has a place in the source, it keeps one, and where the values of a program
 * tell all sizes that it needs, they still do.
 */
export class PassVerifier {
  readonly #operators: Operators;
  readonly #passes = new Set<string>();
  #isPlaced: boolean;
  /**
   * True if values told all sizes that the module needs after `to-anf`; undefined before that pass.
   */
  #tellsSizes: boolean | undefined;

  /** `source` is the module that the first pass is given. */
  constructor(operators: Operators, source?: Module) {
    this.#operators = operators;
    this.#isPlaced = source !== undefined && unplacedExpression(source) === undefined;
  }

  /** Throws an internal error that names the pass, and CompileLimitError where that takes too long. */
  verify(pass: string, module: Module): void {
    const name = pass === 'separate' ? 'fuse' : pass;
    this.#passes.add(name);
    const where = `internal: what ${pass} has made is wrong`;
    try {
      verifyModule(module, { operators: this.#operators, widensBranches: true });
    } catch (thrown) {
      // A limit was reached, and nothing is wrong with the module.
      if (thrown instanceof CompileLimitError || thrown instanceof RangeError) throw thrown;
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      throw new Error(`${where}: ${message}`, { cause: thrown });
    }
    const passes = this.#passes;
    const broken = brokenInvariant(module, { passes, operators: this.#operators });
    if (broken !== undefined) throw new Error(`${where}: ${broken}.`);
    this.#verifySizes(where, module);
    const unplaced = this.#isPlaced ? unplacedExpression(module) : undefined;
    if (unplaced === undefined) return;
    if (!isPassName(name) && name !== 'rules') {
      // A user's pass may make code of its own.
      this.#isPlaced = false;
      return;
    }
    throw new Error(
      `${where}: @${unplaced.name} has lost the place of ${describeExpr(unplaced.expr)}.`,
    );
  }

  /** A program may need a size that no value of it tells, which `lower-shapes` refuses; a pass may not lose one. */
  #verifySizes(where: string, module: Module): void {
    const passes = this.#passes;
    if (this.#tellsSizes === false || !passes.has('to-anf') || passes.has('lower-shapes')) return;
    const unknown = unknownSize(module, this.#operators);
    this.#tellsSizes ??= unknown === undefined;
    if (this.#tellsSizes && unknown !== undefined) throw new Error(`${where}: ${unknown}.`);
  }
}

/**
 * The first size that a module in A-normal form needs and that no value in scope tells before, with its place;
 * undefined if there is none. `lower-shapes` reads sizes off values in the same order.
 */
function unknownSize(module: Module, operators: Operators): string | undefined {
  const types = new TypeInference(module, operators);
  for (const [name, fn] of module.functions) {
    const found = new SizeWalk(fn, types).unknown();
    if (found === undefined) continue;
    const where = formatSpan(spanOf(found.value), `a ${found.value.kind}`);
    return `@${name}, ${where}: no value tells the size ${found.symbol}`;
  }
  return undefined;
}

interface UnknownSize {
  readonly value: Expr;
  readonly symbol: string;
}

/** Walks the blocks of a function with the sizes that are known on the way. */
class SizeWalk {
  readonly #fn: FunctionExpr;
  readonly #blocks: BlockTable;
  readonly #needs: ShapeNeeds;
  readonly #known = new Set<string>();

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#fn = fn;
    this.#blocks = new BlockTable(fn.body);
    this.#needs = new ShapeNeeds(types, this.#blocks);
  }

  unknown(): UnknownSize | undefined {
    return runTask(this.#block(this.#fn.body, this.#fn.params));
  }

  /**
   * Finds an expression in a block that needs an unknown size. `binders`: the variables that are
   * bound where the block begins.
   */
  *#block(root: Expr, binders: readonly VarExpr[]): Task<UnknownSize | undefined> {
    const { steps, result } = this.#blocks.of(root);
    const learnt = this.#learn(binders);
    for (const { variable, value } of [...steps, { value: result, variable: undefined }]) {
      const symbol = this.#missing(value);
      if (symbol !== undefined) return { value, symbol };
      for (const [inner, bound] of blocksIn(value)) {
        const found = yield* sub(this.#block(inner, bound));
        if (found !== undefined) return found;
      }
      if (variable !== undefined) learnt.push(...this.#learn([variable]));
    }
    for (const symbol of learnt) this.#known.delete(symbol);
    return undefined;
  }

  /** Notes the sizes that variables tell; gives those that are new. */
  #learn(variables: readonly VarExpr[]): string[] {
    const symbols = variables.flatMap(({ type }) => (type ? [...tensorSymbols(type)] : []));
    const learnt = symbols.filter((symbol) => !this.#known.has(symbol));
    for (const symbol of learnt) this.#known.add(symbol);
    return learnt;
  }

  #missing(value: Expr): string | undefined {
    let missing: string | undefined;
    for (const dim of this.#needs.neededBy(value).flatMap(({ shape }) => shape)) {
      forEachSymbol(dim, (symbol) => {
        if (!this.#known.has(symbol)) missing ??= symbol;
      });
    }
    return missing;
  }
}

/** The blocks inside a value, with the variables that each binds. */
function blocksIn(value: Expr): (readonly [root: Expr, binders: readonly VarExpr[]])[] {
  if (value.kind === 'match') {
    return value.clauses.map(({ pattern, body }) => [body, variablesOf(pattern)] as const);
  }
  const callee = value.kind === 'call' ? value.callee : value;
  const params = callee.kind === 'function' ? callee.params : [];
  return innerBlocks(value).map((root) => [root, params] as const);
}
