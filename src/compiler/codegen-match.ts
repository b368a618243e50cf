import type { Label, Operand, RegisterOperand } from '../bytecode/function-builder.ts';
import type { Block } from './block.ts';
import type { ShapeSlots } from './codegen-shapes.ts';
import { buildDecisionTree, type DecisionTree, Occurrence } from './decision-tree.ts';
import type { Emitter } from './emitter.ts';
import { type Expr, formatSpan, type MatchExpr, type VarExpr } from './ir/expr.ts';
import type { Task } from './ir/task.ts';
import { variablesOf } from './ir/visit.ts';
import type { ModuleContext } from './module-context.ts';

/** Where the value of a block goes: out of the function, or to a register that branches share. */
export type Destination = { readonly kind: 'return' } | RegisterOperand;

/** What emits the function around a `match`. */
export interface BlockEmitter {
  readonly emitter: Emitter;
  readonly module: ModuleContext;
  readonly slots: ShapeSlots;
  /** The operand for an atom. */
  operand(expr: Expr): Operand;
  /** The block that begins with an expression. */
  blockOf(root: Expr): Block;
  /** Emits a block. `dying` are variables from outside that nothing reads after it. */
  block(block: Block, destination: Destination, dying: readonly VarExpr[]): Task<void>;
  /** Binds a variable of a pattern to the register that holds its value. */
  bind(variable: VarExpr, operand: Operand): void;
}

interface MatchOptions {
  readonly destination: Destination;
  /** Variables from outside that nothing reads after the match. */
  readonly dying: readonly VarExpr[];
}

/** Emits a `match` as tests of tags. The body of each clause is emitted once. */
export function emitMatch(
  generator: BlockEmitter,
  expr: MatchExpr,
  options: MatchOptions,
): Task<void> {
  return new MatchEmitter(generator, expr, options).emit();
}

/** Places whose values are in registers on the way from the root to here. */
type Loaded = ReadonlySet<Occurrence>;

class MatchEmitter {
  readonly #generator: BlockEmitter;
  readonly #expr: MatchExpr;
  readonly #options: MatchOptions;
  readonly #root = new Occurrence();
  /** One register for each place, wherever in the tree it is read. */
  readonly #registers = new Map<Occurrence, Operand>();
  /** Where the bodies that were emitted begin. */
  readonly #bodies = new Map<number, Label>();
  readonly #end: Label;

  constructor(generator: BlockEmitter, expr: MatchExpr, options: MatchOptions) {
    this.#generator = generator;
    this.#expr = expr;
    this.#options = options;
    this.#end = generator.emitter.code.label();
    this.#registers.set(this.#root, generator.operand(expr.value));
  }

  *emit(): Task<void> {
    const { module, emitter } = this.#generator;
    const tree = buildDecisionTree(this.#root, this.#expr.clauses, (name) => module.typeOf(name));
    yield this.#tree(tree, new Set([this.#root]));
    emitter.code.place(this.#end);
  }

  *#tree(tree: DecisionTree, loaded: Loaded): Task<void> {
    switch (tree.kind) {
      case 'leaf':
        yield this.#leaf(tree, loaded);
        return;
      case 'switch':
        yield this.#switch(tree, loaded);
        return;
      case 'fail':
        this.#fail();
        return;
      default:
        tree satisfies never;
    }
  }

  *#switch(
    { occurrence, cases, otherwise }: Extract<DecisionTree, { kind: 'switch' }>,
    loaded: Loaded,
  ): Task<void> {
    const { emitter, module } = this.#generator;
    const here = this.#load(occurrence, loaded);
    const adt = this.#registerOf(occurrence);
    const isTested = otherwise !== undefined || cases.length > 1;
    const tag = isTested ? emitter.builtin('get_tag', [adt]) : undefined;
    for (const [index, { constructor, tree }] of cases.entries()) {
      const isLast = otherwise === undefined && index === cases.length - 1;
      if (isLast || tag === undefined) {
        yield this.#tree(tree, here);
        continue;
      }
      const next = emitter.code.label();
      emitter.code.if(emitter.builtin('int_eq', [tag, module.tagOf(constructor)]), next);
      yield this.#tree(tree, here);
      emitter.code.place(next);
    }
    if (otherwise !== undefined) yield this.#tree(otherwise, here);
  }

  *#leaf(
    { clause, bindings }: Extract<DecisionTree, { kind: 'leaf' }>,
    loaded: Loaded,
  ): Task<void> {
    const generator = this.#generator;
    const { code } = generator.emitter;
    const body = this.#expr.clauses[clause];
    if (body === undefined) throw new Error(`internal: no clause ${clause}`);
    const block = generator.blockOf(body.body);
    const used = [...bindings].filter(([variable]) => block.lastUse.has(variable));
    let here = loaded;
    for (const [, occurrence] of used) here = this.#load(occurrence, here);
    this.#killOthers(here, new Set(used.map(([, occurrence]) => occurrence)));
    const known = this.#bodies.get(clause);
    if (known !== undefined) {
      code.goto(known);
      return;
    }
    const begin = code.label();
    code.place(begin);
    this.#bodies.set(clause, begin);
    const symbols = generator.slots.save();
    for (const [variable, occurrence] of used) {
      generator.bind(variable, this.#bound(occurrence));
    }
    const { destination, dying } = this.#options;
    const own = variablesOf(body.pattern).filter((variable) => block.lastUse.has(variable));
    yield generator.block(block, destination, [...dying, ...own]);
    generator.slots.restore(symbols);
    if (destination.kind !== 'return') code.goto(this.#end);
  }

  /** The register of a variable. The value that is matched may have another name, and die first. */
  #bound(occurrence: Occurrence): Operand {
    const register = this.#registerOf(occurrence);
    const isShared = occurrence === this.#root;
    return isShared ? this.#generator.emitter.builtin('move', [register]) : register;
  }

  /** Drops the places that no variable of the clause holds. */
  #killOthers(loaded: Loaded, used: ReadonlySet<Occurrence>): void {
    for (const occurrence of loaded) {
      if (occurrence === this.#root || used.has(occurrence)) continue;
      this.#generator.emitter.kill(this.#registerOf(occurrence));
    }
  }

  /** Reads a place, and those that it is a field of. */
  #load(occurrence: Occurrence, loaded: Loaded): Loaded {
    const missing: Occurrence[] = [];
    for (
      let place: Occurrence | undefined = occurrence;
      place !== undefined && !loaded.has(place);
      place = place.parent
    ) {
      missing.push(place);
    }
    if (missing.length === 0) return loaded;
    const { emitter } = this.#generator;
    for (const place of missing.toReversed()) {
      if (place.parent === undefined) continue;
      const parent = this.#registerOf(place.parent);
      emitter.builtin('get_field', [parent, place.index], this.#registerOf(place));
    }
    return new Set([...loaded, ...missing]);
  }

  #registerOf(occurrence: Occurrence): Operand {
    const known = this.#registers.get(occurrence);
    if (known !== undefined) return known;
    const register = this.#generator.emitter.code.fresh();
    this.#registers.set(occurrence, register);
    return register;
  }

  #fail(): void {
    const { emitter, module } = this.#generator;
    const place = formatSpan(this.#expr.span, 'match');
    const message = module.builder.string(`${place}: no clause fits the value`);
    emitter.builtin('fatal', [message]);
    // Nothing comes here, but the verifier wants every path to end.
    emitter.code.ret(emitter.code.void);
  }
}
