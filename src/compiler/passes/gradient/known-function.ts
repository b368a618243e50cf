import { freeVariables } from '../../ir/walk/free-variables.ts';
import type { CallExpr, Expr, FunctionExpr, TupleExpr, VarExpr } from '../../ir/expr.ts';

/** A function value whose code is known where it is called. */
export type KnownFunction =
  | { readonly kind: 'global'; readonly name: string; readonly value: Expr }
  /** A function in A-normal form. Its free variables are those of the block it is known in. */
  | { readonly kind: 'closure'; readonly value: FunctionExpr }
  /** A tuple of atoms, some of which are functions. */
  | {
      readonly kind: 'tuple';
      readonly fields: readonly (KnownFunction | undefined)[];
      readonly value: TupleExpr;
    }
  /** A call of `custom_gradient`. */
  | {
      readonly kind: 'custom';
      readonly primal: KnownFunction;
      readonly adjoint: KnownFunction;
      readonly value: CallExpr;
    };

/** Function values by the variables that are bound to them. */
export type KnownFunctions = Map<VarExpr, KnownFunction>;

export function knownFunction(atom: Expr, known: KnownFunctions): KnownFunction | undefined {
  if (atom.kind === 'global') return { kind: 'global', name: atom.name, value: atom };
  return atom.kind === 'var' ? known.get(atom) : undefined;
}

/** A function value with all of its code. */
export interface ClosedFunction {
  /** Variables around it that are no known functions. */
  readonly captured: readonly VarExpr[];
  /** Known functions that it reads, each after those that it reads itself. */
  readonly lets: readonly { readonly variable: VarExpr; readonly value: Expr }[];
}

/**
 * Finds the variables that a function value captures, and the values of known functions among them.
 */
export function closeFunction(value: Expr, known: KnownFunctions): ClosedFunction {
  const captured = new Set<VarExpr>();
  const lets = new Map<VarExpr, Expr>();
  const visit = (expr: Expr): void => {
    for (const variable of freeVariables(expr)) {
      const read = known.get(variable);
      if (read === undefined) captured.add(variable);
      else if (!lets.has(variable)) {
        visit(read.value);
        lets.set(variable, read.value);
      }
    }
  };
  visit(value);
  return {
    captured: [...captured],
    lets: [...lets].map(([variable, own]) => ({ variable, value: own })),
  };
}

export function withinLets(lets: ClosedFunction['lets'], body: Expr): Expr {
  return lets.reduceRight<Expr>(
    (rest, { variable, value }) => ({ kind: 'let', variable, value, body: rest }),
    body,
  );
}
