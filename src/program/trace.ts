import { UsageError } from '../core/errors.ts';
import { tuple, variableOf } from '../compiler/ir/build.ts';
import type { Expr, FunctionExpr, Module, VarExpr } from '../compiler/ir/expr.ts';
import type { Type, TypeDefinition } from '../compiler/ir/type.ts';
import { TypeInference } from '../compiler/inference/type-inference.ts';
import { siteOr } from './call-site.ts';

/** A value of a program that is being written down, or of none: then it is an eager one. */
export interface TracedValue {
  readonly expr: Expr;
  readonly type: Type;
  readonly frame: Frame | undefined;
}

/** A module that is being written down. */
export class Trace {
  readonly functions = new Map<string, FunctionExpr>();
  #types = new Map<string, TypeDefinition>();
  readonly inference = new TypeInference({ functions: this.functions, types: this.#types });
  /** Names of functions by what they were made of: programs, so that each is written down once. */
  readonly names = new Map<unknown, string>();

  /** A name that no function of the module has. */
  reserve(base: string): string {
    let name = base;
    for (
      let count = 2;
      this.functions.has(name) || [...this.names.values()].includes(name);
      count++
    )
      name = `${base}_${count}`;
    this.names.set({}, name);
    return name;
  }

  /** Throws UsageError for two types of one name. */
  define(definition: TypeDefinition): void {
    const known = this.#types.get(definition.name);
    if (known === definition) return;
    if (known !== undefined) {
      const where = siteOr('data');
      const got = `two data types ${definition.name}`;
      throw new UsageError({ where, got, expected: 'each name once in a program' });
    }
    this.#types = new Map([...this.#types, [definition.name, definition]]);
    this.inference.declare({ functions: this.functions, types: this.#types });
  }

  get module(): Module {
    return { functions: this.functions, types: this.#types, metadata: {} };
  }
}

/** A function that is being written down: what its body may use. */
export class Frame {
  readonly trace: Trace;
  readonly #parent: Frame | undefined;
  /** A function that stands in another one uses values of that; a global function gets them as arguments. */
  readonly #isClosure: boolean;
  readonly #captured = new Map<Expr, VarExpr>();

  constructor(trace: Trace, outer?: { readonly frame: Frame; readonly isClosure: boolean }) {
    this.trace = trace;
    this.#parent = outer?.frame;
    this.#isClosure = outer?.isClosure ?? false;
  }

  /** Parameters for what the body uses of the functions around it, and the arguments for them there. */
  get captured(): readonly (readonly [outer: Expr, inner: VarExpr])[] {
    return [...this.#captured];
  }

  /** The value as the body of this function has it. Throws UsageError for one of another program. */
  use({ expr, type, frame }: TracedValue): Expr {
    if (frame === this || expr.kind === 'constant' || expr.kind === 'int') return expr;
    if (this.#parent === undefined) {
      throw new UsageError({
        where: siteOr('program'),
        got: 'an array of another program, or of a body that is over',
        expected: 'parameters, constants and what is computed of them',
        remedy: 'Give it to the program as an argument, or return it from the body.',
      });
    }
    const outer = this.#parent.use({ expr, type, frame });
    if (this.#isClosure || outer.kind === 'constant') return outer;
    const known = this.#captured.get(outer);
    if (known !== undefined) return known;
    const name = outer.kind === 'var' ? outer.name : `captured${this.#captured.size}`;
    const inner = variableOf(name, type);
    this.#captured.set(outer, inner);
    return inner;
  }
}

/** Functions are written down by synchronous calls, which nest; nothing else could tell a call of `add` where it stands. */
let current: Frame | undefined;

/** The function that is being written down. */
export function currentFrame(): Frame | undefined {
  return current;
}

/** The function that is being written down. Throws UsageError where there is none. */
export function requireFrame(construct: string): Frame {
  if (current !== undefined) return current;
  throw new UsageError({
    where: siteOr(construct),
    got: `${construct} outside of a program`,
    expected: 'the body of program(...)',
  });
}

/** Does some work in a function, whose body it writes down. */
export function inFrame<T>(frame: Frame, work: () => T): T {
  const outer = current;
  current = frame;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/** Values as one: that of a list of one is itself. */
export function bundle(exprs: readonly Expr[]): Expr {
  const [only] = exprs;
  return exprs.length === 1 && only !== undefined ? only : tuple(exprs);
}
