import type { Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';

/** A function value whose code is known where it is called. */
export type KnownFunction =
  | { readonly kind: 'global'; readonly name: string }
  /** A function in A-normal form. Its free variables are those of the block it is known in. */
  | { readonly kind: 'closure'; readonly fn: FunctionExpr }
  | { readonly kind: 'tuple'; readonly fields: readonly (KnownFunction | undefined)[] }
  | {
      readonly kind: 'custom';
      readonly primal: KnownFunction;
      readonly adjoint: KnownFunction;
    };

/** Function values by the variables that are bound to them. */
export type KnownFunctions = Map<VarExpr, KnownFunction>;

/** The function that an atom is known to be. */
export function knownFunction(atom: Expr, known: KnownFunctions): KnownFunction | undefined {
  if (atom.kind === 'global') return { kind: 'global', name: atom.name };
  return atom.kind === 'var' ? known.get(atom) : undefined;
}
