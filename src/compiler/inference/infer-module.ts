import { checkOptions } from '../../core/check-options.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { checkNesting } from '../ir/text/check-nesting.ts';
import type { Expr, FunctionExpr, Module } from '../ir/expr.ts';
import type { Type, TypeDefinition } from '../ir/type.ts';
import { postOrder } from '../ir/walk/visit.ts';
import { constructorsOf, typeFault } from './declarations.ts';
import { elaborate } from './elaborate.ts';
import { gatherDimFacts } from './sizes/gather-dim-facts.ts';
import { ExpressionInference } from './infer-expression.ts';
import {
  InferenceContext,
  type Signature,
  type TypingContext,
  type WidenedOperands,
} from './inference-context.ts';
import { liftRecursiveLets } from './lift-recursive-lets.ts';
import { stronglyConnected } from './strongly-connected.ts';
import { type AppliedTerm, ERROR_TERM, functionTerm, termOf } from '../ir/term.ts';
import { type SourceTexts, TEXTS, TypeDiagnostics } from './checks/type-diagnostics.ts';

/** A type becomes wider by few dimensions, and what follows from that is known at once. */
const MAX_INFERENCES = 8;

interface InferOptions {
  /** Texts by the name in spans, for excerpts in messages. */
  readonly texts?: SourceTexts | undefined;
  /** Called with what is well-typed and yet odd: a clause that is never reached. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Default: the core operators. */
  readonly operators?: Operators | undefined;
  /**
   * Gives branches whose dimensions differ a type with `?`, even where none is declared. A pass may have found
   * out more about one branch than the source says. Default: false.
   */
  readonly widensBranches?: boolean | undefined;
}

/**
 * Infers the types of a module and writes them down: afterwards every variable has a type, every
 * function its `resultType`, and every call of a polymorphic function its `typeArguments`. A function that calls
 * itself by the variable of its let becomes a private global one. The same module when all of that is there already.
 *
 * Throws one TypeCheckError for all that is wrong (the first 20 places); a single complaint of an
 * operator is thrown as it is (ShapeError, UnsupportedError).
 */
export function inferModule(module: Module, options: InferOptions = {}): Module {
  checkNesting(module, 'inferModule');
  checkOptions<InferOptions>('inferModule', options, {
    texts: TEXTS,
    onWarning: 'function',
    operators: 'operators',
    widensBranches: 'boolean',
  });
  const { texts, onWarning, operators = CORE_OPERATORS, widensBranches } = options;
  const diagnostics = new TypeDiagnostics(texts);
  const constructors = constructorsOf(module.types);
  const signatures = new Map<string, Signature>();
  const typing = {
    types: module.types,
    constructors,
    signatures,
    diagnostics,
    onWarning,
    facts: gatherDimFacts(module.functions),
    operators,
    widensBranches,
  };
  checkDefinitions(module.types, diagnostics);
  for (const [name, fn] of module.functions) {
    const term = declaredSignature(fn);
    if (term !== undefined) signatures.set(name, { term, isOpen: false, paramNames: names(fn) });
  }
  const elaborated = new Map<string, FunctionExpr>();
  let hasRecursiveLets = false;
  for (const component of componentsOf(module.functions)) {
    const { context, complaints, isLifted } = inferTogether(component, typing);
    hasRecursiveLets ||= isLifted;
    const found = diagnostics.count > complaints ? undefined : elaborate(component, context);
    for (const [name, fn] of component) {
      const result = found?.get(name);
      if (result !== undefined) elaborated.set(name, result);
      const declared = result && declaredSignature(result);
      const isOpen = signatures.get(name)?.isOpen === true;
      if (declared === undefined && !isOpen) continue;
      // A type that a mistake left open fits everywhere, so that callers report no errors because
      // of it.
      const term = declared ?? ERROR_TERM;
      signatures.set(name, { term, isOpen: false, paramNames: names(result ?? fn) });
    }
  }
  diagnostics.throwIfAny();
  const typed = withFunctions(module, elaborated);
  return hasRecursiveLets ? liftRecursiveLets(typed) : typed;
}

interface TogetherInferred {
  readonly context: InferenceContext;
  readonly complaints: number;
  /** True if a function calls itself by the variable of a let, which has to be lifted. */
  readonly isLifted: boolean;
}

/**
 * Infers functions that call each other. An operator's rule may be applied to a type that becomes wider afterwards:
 * then once more from the start, with what is known now, as long as that helps.
 */
function inferTogether(
  component: readonly (readonly [string, FunctionExpr])[],
  typing: TypingContext & { readonly signatures: Map<string, Signature> },
): TogetherInferred {
  const { signatures, diagnostics } = typing;
  const open = component.filter(([name]) => !signatures.has(name));
  const complaints = diagnostics.count;
  const known: WidenedOperands = new Map();
  for (let left = MAX_INFERENCES; ; left--) {
    // Of the last time alone.
    const warnings: string[] = [];
    const onWarning = (message: string): void => void warnings.push(message);
    const context = new InferenceContext({ ...typing, onWarning }, { known, isLast: left === 1 });
    const inference = new ExpressionInference(context);
    for (const [name, fn] of open) {
      signatures.set(name, { term: inference.open(fn), isOpen: true, paramNames: names(fn) });
    }
    for (const [name, fn] of component) inference.inferGlobal(name, fn);
    context.solve();
    const { widened } = context;
    if (widened === undefined || widened.size === 0) {
      for (const message of warnings) typing.onWarning?.(message);
      return { context, complaints, isLifted: inference.hasRecursiveLets };
    }
    for (const [expr, types] of widened) known.set(expr, types);
    diagnostics.forget(complaints);
  }
}

/** The type of a function whose parameters and result are all declared. */
function declaredSignature(fn: FunctionExpr): AppliedTerm | undefined {
  const params = fn.params.flatMap(({ type }): Type[] => (type === undefined ? [] : [type]));
  if (fn.resultType === undefined || params.length !== fn.params.length) return undefined;
  return functionTerm(params.map(termOf), termOf(fn.resultType), fn.typeParams);
}

function names(fn: FunctionExpr): string[] {
  return fn.params.map(({ name }) => name);
}

/**
 * Functions that have to be inferred together, after those that they use. A function whose
 * signature is declared is used by that, so it binds nothing together.
 */
function componentsOf(
  functions: ReadonlyMap<string, FunctionExpr>,
): (readonly (readonly [string, FunctionExpr])[])[] {
  const references = (name: string): string[] => {
    const fn = functions.get(name);
    return fn === undefined ? [] : globalsIn(fn, functions);
  };
  return stronglyConnected(functions.keys(), references).map((members) => {
    const chosen = new Set(members);
    return [...functions].filter(([name]) => chosen.has(name));
  });
}

function globalsIn(fn: Expr, functions: ReadonlyMap<string, FunctionExpr>): string[] {
  const found = new Set<string>();
  for (const expr of postOrder(fn)) {
    if (expr.kind !== 'global') continue;
    const target = functions.get(expr.name);
    if (target !== undefined && declaredSignature(target) === undefined) found.add(expr.name);
  }
  return [...found];
}

function withFunctions(module: Module, elaborated: ReadonlyMap<string, FunctionExpr>): Module {
  const functions = new Map(
    [...module.functions].map(([name, fn]) => [name, elaborated.get(name) ?? fn]),
  );
  const changed = [...module.functions].some(([name, fn]) => functions.get(name) !== fn);
  return changed ? { ...module, functions } : module;
}

const NO_SYMBOLS: ReadonlySet<string> = new Set();

/** Checks that data types refer to types that there are, and that constructors are unique. */
export function checkDefinitions(
  types: ReadonlyMap<string, TypeDefinition>,
  diagnostics: TypeDiagnostics,
): void {
  const owners = new Map<string, string>();
  for (const definition of types.values()) {
    const typeParams = new Set(definition.params);
    const tags = new Set<number>();
    for (const { name, fields, tag } of definition.constructors) {
      const where = `type ${definition.name}, constructor ${name}`;
      const owner = owners.get(name);
      if (owner !== undefined) {
        const got = `a constructor that type ${owner} has`;
        diagnostics.complain(undefined, { where, got, expected: 'another name' });
      }
      owners.set(name, definition.name);
      if (tag !== undefined && tags.has(tag)) {
        const got = `the tag ${tag} again`;
        diagnostics.complain(undefined, { where, got, expected: 'one of its own' });
      }
      if (tag !== undefined) tags.add(tag);
      for (const field of fields) {
        const fault = typeFault(field, { types, typeParams, symbols: NO_SYMBOLS });
        if (fault !== undefined) diagnostics.complain(undefined, { where, ...fault });
      }
    }
  }
}
