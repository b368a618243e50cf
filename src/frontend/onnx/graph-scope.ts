import { letIn, variableOf } from '../../compiler/ir/build.ts';
import type { Expr, Span, VarExpr } from '../../compiler/ir/expr.ts';
import { tensorType, type Type } from '../../compiler/ir/type.ts';
import { postOrder } from '../../compiler/ir/walk/visit.ts';
import { isUnknownDim } from '../../core/dims/dim-symbols.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type { ImportContext } from './import-context.ts';

/** A value of the scope around a function that the function takes as a parameter of its own. */
interface Capture {
  readonly param: VarExpr;
  readonly value: Expr;
}

/**
 * A global function that is being built. What its body reads of the scope around it becomes
 * parameters, constants excepted.
 */
export class FunctionFrame {
  readonly #context: ImportContext;
  /** The block in which the function is called; absent for `main`. */
  readonly #caller: Block | undefined;
  readonly #captures = new Map<Expr, Capture>();
  readonly #carriers = new Map<string, Expr>();

  constructor(context: ImportContext, caller?: Block) {
    this.#context = context;
    this.#caller = caller;
  }

  /** True for the function that the program begins with. */
  get isMain(): boolean {
    return this.#caller === undefined;
  }

  get captures(): readonly Capture[] {
    return [...this.#captures.values()];
  }

  capture(value: Expr): Expr {
    const isFree = value.kind === 'constant' || value.kind === 'int' || value.kind === 'global';
    if (isFree || this.#context.shapeValues.has(value)) return value;
    const composite = this.#context.composites.get(value);
    if (composite?.kind === 'sequence') {
      const elements = composite.elements.map((element) => this.capture(element));
      return this.#context.compositeResult({ ...composite, elements });
    }
    if (composite !== undefined) {
      const element = composite.element && this.capture(composite.element);
      return this.#context.compositeResult({ ...composite, element });
    }
    const known = this.#captures.get(value);
    if (known !== undefined) return known.param;
    const type = this.#context.types.of(value);
    const name = value.kind === 'var' ? value.name : 'captured';
    const param = variableOf(name, type, value.kind === 'operator' ? undefined : value.span);
    this.#captures.set(value, { param, value });
    this.addCarriers(param, type);
    return param;
  }

  /** Makes the symbols known that dimensions of a variable are. */
  addCarriers(variable: VarExpr, type: Type): void {
    if (type.kind !== 'tensor') return;
    for (const dim of type.shape) {
      if (typeof dim !== 'string' || dim === '?' || this.#carriers.has(dim)) continue;
      this.#carriers.set(dim, variable);
    }
  }

  /** A tensor with a dimension that is the symbol; undefined for a symbol that nothing tells. */
  carrier(symbol: string): Expr | undefined {
    const known = this.#carriers.get(symbol);
    if (known !== undefined) return known;
    const outer = this.#caller?.frame.carrier(symbol);
    return outer && this.capture(outer);
  }
}

/** The body of a function or a branch: what has to be computed in order, before its result. */
export class Block {
  readonly frame: FunctionFrame;
  readonly #context: ImportContext;
  readonly #lets: { readonly variable: VarExpr; readonly value: Expr }[] = [];
  readonly #symbols = new Set<string>();
  /** Conditions that hold here, or do not. */
  readonly #conditions: ReadonlyMap<Expr, boolean>;

  constructor(
    context: ImportContext,
    frame: FunctionFrame,
    conditions: ReadonlyMap<Expr, boolean> = new Map(),
  ) {
    this.#context = context;
    this.frame = frame;
    this.#conditions = conditions;
  }

  /** A block that is computed where a condition has this value. */
  branch(condition: Expr, value: boolean): Block {
    return new Block(this.#context, this.frame, new Map([...this.#conditions, [condition, value]]));
  }

  /** True if every call of the program computes this block. */
  get isAlwaysReached(): boolean {
    return this.#conditions.size === 0 && this.frame.isMain;
  }

  /** The value that a condition surely has where this block is computed. */
  conditionHere(condition: Expr): boolean | undefined {
    return this.#conditions.get(condition);
  }

  bind(value: Expr, { name, type, span }: { name: string; type?: Type; span?: Span }): VarExpr {
    const variable = variableOf(name, type, span);
    this.#lets.push({ variable, value });
    if (type !== undefined) this.frame.addCarriers(variable, type);
    return variable;
  }

  /** A variable for a tensor whose unknown dimensions get names, which attributes may use then. */
  name(value: Expr, type: TensorType, span: Span): VarExpr {
    const shape = type.shape.map((dim): Dim => {
      if (!isUnknownDim(dim)) return dim;
      const symbol = this.#context.freshSymbol();
      this.#symbols.add(symbol);
      return symbol;
    });
    return this.bind(value, { name: 'sized', type: tensorType({ ...type, shape }), span });
  }

  /** Takes over what another block of the same function bound. */
  absorb(other: Block): void {
    this.#lets.push(...other.#lets);
    for (const symbol of other.#symbols) this.#symbols.add(symbol);
  }

  /** Returns true if {@link name} made the symbol in this block. */
  hasNamed(symbol: string): boolean {
    return this.#symbols.has(symbol);
  }

  /** Puts another value in the place of that of a variable. */
  replace(variable: VarExpr, change: (value: Expr) => Expr): void {
    const index = this.#lets.findIndex((bound) => bound.variable === variable);
    const bound = this.#lets[index];
    if (bound === undefined) throw new Error(`internal: ${variable.name} is bound elsewhere`);
    this.#lets[index] = { variable, value: change(bound.value) };
  }

  /** Those of the bindings that read some values, by way of others or not, then the result. */
  wrapDependents(result: Expr, values: ReadonlySet<Expr>): Expr {
    const reading = new Set(values);
    const dependents = this.#lets.filter(({ variable, value }) => {
      const reads = postOrder(value).some((expr) => reading.has(expr));
      if (reads) reading.add(variable);
      return reads && !values.has(variable);
    });
    return dependents.reduceRight(
      (body, { variable, value }) => letIn(variable, value, body),
      result,
    );
  }

  /** The bindings, then the result. */
  wrap(result: Expr): Expr {
    return this.#lets.reduceRight(
      (body, { variable, value }) => letIn(variable, value, body),
      result,
    );
  }
}

/** The values that the nodes of a graph may name: its own, and those of the graphs around it. */
export class Names {
  readonly frame: FunctionFrame;
  readonly #outer: Names | undefined;
  readonly #values: Map<string, Expr>;
  readonly #changed = new Set<string>();

  constructor(frame: FunctionFrame, outer?: Names, values: Iterable<[string, Expr]> = []) {
    this.frame = frame;
    this.#outer = outer;
    this.#values = new Map(values);
  }

  /** The same names, for one of several ways through the graph. */
  fork(): Names {
    return new Names(this.frame, this.#outer, this.#values);
  }

  /** Names that were set since {@link fork} and are still to be read. */
  get changed(): ReadonlySet<string> {
    return this.#changed;
  }

  /** Forgets names that nothing reads any more. */
  drop(isDead: (name: string) => boolean): void {
    for (const name of this.#changed) if (isDead(name)) this.#changed.delete(name);
  }

  /** A value that the ways have in common. */
  inherit(name: string, value: Expr): void {
    this.#values.set(name, value);
  }

  /** Returns true if the graph itself has defined the name. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  set(name: string, value: Expr): void {
    this.#values.set(name, value);
    this.#changed.add(name);
  }

  /** Returns true if a graph around this one has a value of this name. */
  isOuter(name: string): boolean {
    return this.#outer !== undefined && (this.#outer.has(name) || this.#outer.isOuter(name));
  }

  lookup(name: string): Expr | undefined {
    const own = this.#values.get(name);
    if (own !== undefined) return own;
    const outer = this.#outer?.lookup(name);
    if (outer === undefined) return undefined;
    return this.#outer?.frame === this.frame ? outer : this.frame.capture(outer);
  }
}
